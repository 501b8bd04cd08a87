"""§204 §95 §97 §4 §5 `gatehouse run` as people and programs use it: exit statuses, the document, the terminal."""
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BUILD = os.environ["GATEHOUSE_BUILD_DIR"]
GATEHOUSE = os.path.join(BUILD, "gatehouse")
HANG_S = 60  # only ends a test that hangs


class RunTest(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gatehouse-test-", dir="/var/tmp")
        self.ws = os.path.join(self.base, "ws")
        os.makedirs(self.ws)
        self.env = {"HOME": self.base, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
                    "GATEHOUSE_HOME": self.base + "/gatehouse", "XDG_STATE_HOME": self.base + "/state",
                    "SHELL": "/bin/bash"}

    def tearDown(self):
        shutil.rmtree(self.base)

    def argv(self, *words):
        return [GATEHOUSE, "run", "--profile", "workspace-write", "--cwd", self.ws, *words]

    def run_it(self, *words):
        return subprocess.run(self.argv(*words), env=self.env, cwd=self.ws, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=HANG_S, check=False)

    def status(self, *words):
        return self.run_it(*words).returncode

    def document(self, *words):
        done = self.run_it("--json", *words)
        document = json.loads(done.stdout)
        self.assertEqual(document["exit_status"], done.returncode)
        return document

    def at_terminal(self, typed, *words):
        """Types each text once its prompt stands; returns what the terminal showed and the exit status."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(GATEHOUSE, self.argv(*words), self.env)
        shown, waiting, end = b"", list(typed), time.monotonic() + HANG_S
        prompts = 0
        while time.monotonic() < end:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            if not data:
                break
            shown += data
            if shown.count(b"\n> ") > prompts and waiting:
                prompts += 1
                os.write(terminal, waiting.pop(0))
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        return shown.decode("utf-8", "replace"), os.waitstatus_to_exitcode(status)

    def test_the_exit_status_is_the_commands_or_says_why_there_is_none(self):
        self.assertEqual(self.status("--", "true"), 0)
        self.assertEqual(self.status("--", "sh", "-c", "exit 37"), 37)
        self.assertEqual(self.status("--", "sh", "-c", "kill -SEGV $$"), 128 + signal.SIGSEGV)
        self.assertEqual(self.status("--timeout-ms", "300", "--", "sleep", "60"), 124)
        self.assertEqual(self.status("--", "rm", "-rf", "x"), 125)
        self.assertEqual(self.status("--", "/etc/passwd"), 126)
        self.assertEqual(self.status("--", "no-such-program"), 127)
        for wrong in (["--timeout-ms", "0", "--", "true"], ["--bogus", "--", "true"], [],
                      ["--shell", "ls", "--", "ls"], ["--profile", "nope", "--", "true"],
                      ["--sandbox-permissions", "all", "--", "true"], ["--prefix-rule", "git", "--", "true"]):
            done = subprocess.run([GATEHOUSE, "run", *wrong], env=self.env, cwd=self.ws, capture_output=True,
                                  text=True, timeout=HANG_S, check=False)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn("gatehouse: ", done.stderr)

    def test_output_passes_through_and_what_gatehouse_says_stays_on_standard_error(self):
        done = self.run_it("--", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((done.stdout, done.returncode), ("out\n", 0))
        self.assertIn("err\n", done.stderr)

    def test_a_call_that_may_not_be_asked_about_is_refused_with_the_way_out(self):
        done = self.run_it("--", "rm", "-rf", "x")
        self.assertIn("no one can be asked here", done.stderr)

    def test_the_document_tells_decision_attempt_and_output(self):
        document = self.document("--shell", "echo hi; echo no >&2; exit 3")
        self.assertEqual(document["decision"]["requirement"], {"kind": "skip", "bypass_sandbox": False})
        self.assertEqual([s["argv"][0] for s in document["decision"]["segments"]][:1], ["echo"])
        self.assertEqual((document["stdout"], document["stderr"]), ("hi\n", "no\n"))
        [attempt] = document["attempts"]
        self.assertEqual((attempt["sandbox"], attempt["network"], attempt["exit_code"]), ("linux", "isolated", 3))
        self.assertNotIn("denied", attempt)
        self.assertEqual(document["truncated_bytes"], 0)

    def test_a_program_that_only_talks_of_denials_failed_normally(self):
        document = self.document("--", "sh", "-c", "echo sandbox: permission denied >&2; exit 1")
        self.assertNotIn("denied", document["attempts"][0])

    def test_a_login_shell_is_refused_where_configuration_forbids_it(self):
        os.makedirs(self.env["GATEHOUSE_HOME"])
        with open(self.env["GATEHOUSE_HOME"] + "/config.toml", "w", encoding="utf-8") as config:
            config.write("allow_login_shell = false\n")
        document = self.document("--login", "--shell", "echo hi")
        self.assertEqual(document["exit_status"], 125)
        self.assertEqual(document["decision"]["requirement"]["refused_by"], "handler")
        self.assertEqual(self.status("--shell", "echo hi"), 0)

    def test_megabytes_of_output_are_kept_in_bounds_and_counted(self):
        document = self.document("--", "head", "-c", "5000000", "/dev/zero")
        self.assertGreater(document["truncated_bytes"], 3_000_000)
        self.assertEqual(document["attempts"][0]["exit_code"], 0)

    def test_the_terminal_shows_the_exact_command_and_takes_only_its_letters(self):
        os.makedirs(self.ws + "/x")
        shown, status = self.at_terminal([b"what?\n", b"y\n"], "--", "rm", "-rf", "x")
        self.assertIn("rm -rf x", shown)
        self.assertIn(self.ws, shown)
        self.assertIn("please type one of the letters", shown)
        self.assertEqual(status, 0)
        self.assertFalse(os.path.exists(self.ws + "/x"))

    def test_no_and_the_end_of_input_are_refusals_and_stop_is_a_stop(self):
        os.makedirs(self.ws + "/x")
        for typed, wanted in ((b"n\n", 125), (b"\x04", 125), (b"q\n", 120)):
            _, status = self.at_terminal([typed], "--", "rm", "-rf", "x")
            self.assertEqual(status, wanted, typed)
        self.assertTrue(os.path.exists(self.ws + "/x"))

    def test_an_approved_rule_is_kept_and_asks_no_more(self):
        command = ["--ask", "untrusted", "--", "touch", "made"]
        shown, status = self.at_terminal([b"r\n"], *command)
        self.assertIn("touch made", shown)
        self.assertEqual(status, 0)
        with open(self.env["GATEHOUSE_HOME"] + "/rules/default.rules", encoding="utf-8") as rules:
            self.assertIn('prefix_rule(pattern=["touch", "made"], decision="allow")\n', rules.read())
        self.assertEqual(self.status(*command), 0)

    def test_a_command_text_cannot_forge_the_question(self):
        forged = "x\x1b[2J\r  [y] yes, it is harmless\n"
        shown, _ = self.at_terminal([b"n\n"], "--", "rm", "-rf", forged)
        self.assertNotIn("\x1b[2J", shown)

    def test_an_interrupt_ends_the_command_and_its_tree(self):
        marker = f"301.{os.getpid()}"
        done = subprocess.Popen(self.argv("--", "sh", "-c", f"echo up; sleep {marker} & sleep {marker}"),
                                env=self.env, cwd=self.ws, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)
        self.assertEqual(done.stdout.readline(), b"up\n")
        done.send_signal(signal.SIGTERM)
        done.communicate(timeout=HANG_S)
        self.assertEqual(done.returncode, 120)
        self.assertEqual(subprocess.run(["pgrep", "-f", f"^sleep {marker}"], stdout=subprocess.DEVNULL,
                                        check=False).returncode, 1)

    def test_killing_the_host_leaves_nothing_behind(self):
        marker = f"302.{os.getpid()}"
        done = subprocess.Popen(self.argv("--", "sh", "-c", f"echo up; sleep {marker}"), env=self.env, cwd=self.ws,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.assertEqual(done.stdout.readline(), b"up\n")
        done.kill()
        done.communicate(timeout=HANG_S)
        end = time.monotonic() + HANG_S
        while subprocess.run(["pgrep", "-f", f"^sleep {marker}"], stdout=subprocess.DEVNULL,
                             check=False).returncode == 0:
            self.assertLess(time.monotonic(), end, "the command outlived its host")
        self.assertEqual(os.listdir(self.ws), [])


if __name__ == "__main__":
    unittest.main()
