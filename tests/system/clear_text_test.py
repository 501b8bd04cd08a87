"""What Gatehouse says when a call cannot be: in a document for programs, and with the reason for people."""
import json
import os
import subprocess
import unittest

from run_case import GATEHOUSE, GRACE_S, RunCase


class ClearText(RunCase):
    def gatehouse(self, *given, **more):
        return subprocess.run([GATEHOUSE, *given], **{"env": self.env, "stdin": subprocess.DEVNULL, "cwd": self.ws,
                                                      "capture_output": True, "text": True, "timeout": GRACE_S,
                                                      "check": False, **more})

    def script(self, name, text):
        path = os.path.join(self.ws, name)
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(path, 0o755)
        return path

    def test_json_printed_nothing_for_wrong_usage_or_configuration(self):
        for given in (["--profile", "nope", "--", "ls"], ["--rules", "/no/such.rules", "--", "ls"],
                      ["--cwd", "/no/such", "--", "ls"], ["--timeout-ms", "0", "--", "ls"], ["--no-such", "--", "ls"],
                      ["--"], ["--sandbox-permissions", "all", "--", "ls"]):
            with self.subTest(given=given):
                done = self.gatehouse("run", "--json", *given)
                self.assertEqual(done.returncode, 2, done.stderr)
                doc = json.loads(done.stdout)
                self.assertEqual(doc["exit_status"], 2)
                self.assertIn(doc["failure"]["message"], done.stderr)
                self.assertEqual(doc["attempts"], [])
        self.assertEqual(self.gatehouse("run", "--no-such", "--", "ls", "--json").stdout, "")

    def test_a_folder_that_may_not_be_entered_was_called_missing(self):
        inner = os.path.join(self.base, "private", "x")
        os.makedirs(inner)
        where = lambda: (os.chdir(inner), os.chmod(os.path.dirname(inner), 0o000), os.setgroups([]), os.setuid(65534))
        if os.getuid() != 0:
            self.skipTest("needs to become somebody else")
        os.chmod(self.base, 0o755)
        done = self.gatehouse("run", "--", "true", preexec_fn=where)
        os.chmod(os.path.dirname(inner), 0o755)
        self.assertEqual(done.returncode, 2)
        self.assertIn("Permission denied", done.stderr)
        self.assertNotIn("Correct --cwd", done.stderr)

    def test_a_missing_interpreter_was_called_a_missing_program(self):
        self.script("bad", "#!/no/such/interpreter -x\n")
        done = self.gatehouse("run", "--", "./bad")
        self.assertEqual(done.returncode, 127)
        self.assertIn("its interpreter /no/such/interpreter does not exist", done.stderr)

    def test_a_program_that_the_profile_hides_was_called_missing(self):
        entries = [{"path": {"type": "special", "value": {"kind": "project_roots"}}, "access": "write"}]
        profile = {"type": "managed", "file_system": {"type": "restricted", "entries": entries}, "network": "restricted"}
        done = self.gatehouse("run", "--profile", json.dumps(profile), "--", "sh", "-c", "true")
        self.assertEqual(done.returncode, 127, done.stderr)
        self.assertIn("the profile does not show", done.stderr)

    def test_a_folder_that_the_profile_denies_sent_people_to_the_doctor(self):
        entries = [{"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
                   {"path": {"type": "special", "value": {"kind": "project_roots"}}, "access": "deny"}]
        profile = {"type": "managed", "file_system": {"type": "restricted", "entries": entries}, "network": "restricted"}
        done = self.gatehouse("run", "--profile", json.dumps(profile), "--", "true")
        self.assertEqual(done.returncode, 121, done.stderr)
        self.assertIn("choose a folder that the permission profile makes readable", done.stderr)
        self.assertNotIn("doctor", done.stderr)

    def test_a_gatehouse_in_a_sandbox_of_gatehouse_sent_people_to_the_doctor(self):
        tools = os.path.dirname(GATEHOUSE)
        for command in (["sandbox"], ["run"]):
            with self.subTest(command=command):
                done = self.gatehouse("sandbox", "--allow-read", tools, "--", GATEHOUSE, *command, "--", "true")
                self.assertEqual(done.returncode, 121, done.stderr)
                self.assertIn("inside a sandbox of Gatehouse already (GATEHOUSE_SANDBOX=linux)", done.stderr)
                self.assertNotIn("doctor", done.stderr)

    def test_an_unrestricted_file_system_showed_nothing(self):
        profile = '{"type":"managed","file_system":{"type":"unrestricted"},"network":"restricted"}'
        out = os.path.join(self.base, "out")
        done = self.gatehouse("run", "--profile", profile, "--", "sh", "-c", f"cat /etc/hostname >/dev/null && echo x > {out}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.exists(out))
        self.assertIn("network isolated", done.stderr)
        done = self.gatehouse("run", "--profile", profile.replace("unrestricted", "open"), "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("`/file_system`: unknown type `open`", done.stderr)

    def test_the_reason_that_a_boundary_failed_was_printed_twice(self):
        profile = '{"type":"managed","file_system":{"type":"restricted","entries":[]},"network":"restricted"}'
        done = self.gatehouse("run", "--profile", profile, "--", "true")
        self.assertEqual(done.returncode, 121)
        self.assertEqual(done.stderr.count("does not exist inside the boundary"), 1, done.stderr)

    def test_landlock_spoke_of_an_entry_that_nobody_wrote(self):
        for profile in ("workspace-write", "read-only"):
            with self.subTest(profile=profile):
                done = self.gatehouse("run", "--backend", "landlock", "--profile", profile, "--", "true")
                self.assertEqual(done.returncode, 121)
                self.assertEqual(done.stderr.count("Gatehouse's own tokens"), 1, done.stderr)
                self.assertIn("--backend landlock", done.stderr)
                for other in ("seatbelt", "windows", "gatehouse-sandbox:"):
                    self.assertNotIn(other, done.stderr)

    def test_a_table_of_exit_statuses_without_1_for_run(self):
        self.assertRegex(self.gatehouse("run", "--help").stdout, "Exit status: own 1 2 ")


if __name__ == "__main__":
    unittest.main()
