"""§204 `gatehouse run` from outside: exit statuses, the JSON document, questions at a terminal, and what is left behind.

Questions are answered through a pseudo-terminal, as a person does. Danger is only ever proposed on names that do not
exist, inside a folder made for the test.
"""
import json
import os
import signal
import subprocess
import time
import unittest

from run_case import DANGEROUS, GATEHOUSE, GRACE_S, RunCase, answer_at_terminal


class Run(RunCase):
    def setUp(self):
        super().setUp()
        self.rules = self.home + "/rules/default.rules"
        self.env |= {"SSH_AUTH_SOCK": "/nowhere", "GATEHOUSE_SECRET": "x"}

    def ask(self, keys, *given, before=b""):
        """At a terminal: sends `keys` one after the other, each when a fresh prompt stands. Returns (shown, status)."""
        return answer_at_terminal(self.argv(*given), self.env, keys, before=before)

    # Exit statuses (§204).

    def test_the_commands_own_status_comes_back(self):
        self.assertEqual(self.run_it("--", "sh", "-c", "exit 7").returncode, 7)

    def test_a_signal_is_128_plus_its_number(self):
        doc, status = self.document("--", "sh", "-c", "kill -TERM $$")
        self.assertEqual((status, doc["attempts"][0]["signal"]), (143, 15))

    def test_not_found_is_127_and_not_executable_126(self):
        self.assertEqual(self.run_it("--", "no-such-program").returncode, 127)
        with open(self.ws + "/data", "w", encoding="utf-8"):
            pass
        self.assertEqual(self.run_it("--", "./data").returncode, 126)

    def test_a_time_out_is_124_and_ends_the_whole_tree(self):
        marker = f"301.{os.getpid()}"
        start = time.monotonic()
        done = self.run_it("--timeout-ms", "300", "--", "sh", "-c", f"sleep {marker} & sleep {marker}; wait")
        self.assertEqual(done.returncode, 124)
        self.assertLess(time.monotonic() - start, 15)
        left = subprocess.run(["pgrep", "-f", f"^sleep {marker}"], capture_output=True, check=False).stdout
        self.assertEqual(left, b"")

    def test_a_trapped_time_out_is_a_time_out(self):
        done = self.run_it("--timeout-ms", "300", "--", "sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done")
        self.assertEqual(done.returncode, 124)

    def test_what_needs_approval_is_refused_without_a_terminal(self):
        doc, status = self.document("--", *DANGEROUS)
        self.assertEqual(status, 125)
        self.assertEqual(doc["attempts"], [])
        self.assertEqual(doc["reviews"][0]["decision"], "denied")
        self.assertEqual(doc["reviews"][0]["reviewer"], "none")
        self.assertIn("no one can be asked", doc["message"])
        self.assertEqual(doc["exit_status"], 125)

    def test_wrong_usage_is_2_and_says_nothing_on_stdout(self):
        for given in (["--"], ["--no-such-option", "--", "ls"], ["--timeout-ms", "0", "--", "ls"],
                      ["--timeout-ms", "1x", "--", "ls"], ["--login", "--", "ls"], ["--shell", "ls", "--", "ls"],
                      ["--sandbox-permissions", "all", "--", "ls"], ["--prefix-rule", "{", "--", "ls"],
                      ["--additional-permissions", "[]", "--", "ls"], ["--ask", "sometimes", "--", "ls"],
                      ["--rules", "/no/such/file.rules", "--", "ls"], ["--profile", "x", "--", "ls"]):
            with self.subTest(given=given):
                done = self.run_it(*given)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, b"")
                self.assertIn(b"gatehouse: ", done.stderr)

    def test_a_status_of_121_that_the_command_chose_is_its_own(self):
        doc, status = self.document("--", "sh", "-c", "exit 121")
        self.assertEqual((status, doc["attempts"][0]["exit_code"]), (121, 121))
        self.assertNotIn("failure", doc)

    # The document.

    def test_a_program_that_only_talks_of_denials_failed_normally(self):
        doc, _ = self.document("--", "sh", "-c", "echo sandbox: permission denied >&2; exit 1")
        self.assertNotIn("denied", doc["attempts"][0])

    def test_the_document_holds_decision_attempt_and_output(self):
        doc, status = self.document("--", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual(status, 0)
        self.assertEqual((doc["stdout"], doc["stderr"]), ("out\n", "err\n"))
        self.assertEqual(sorted(doc["aggregated"].split()), ["err", "out"])
        self.assertEqual(doc["truncated_bytes"], 0)
        self.assertEqual(doc["reviews"], [])
        attempt = doc["attempts"][0]
        self.assertEqual((attempt["sandbox"], attempt["network"], attempt["exit_code"]), ("linux", "isolated", 0))
        self.assertIsInstance(attempt["duration_ms"], int)
        self.assertEqual(doc["decision"]["requirement"]["kind"], "skip")
        self.assertEqual(doc["decision"]["sandbox"]["first_attempt"], "sandboxed")

    def test_the_decision_is_the_one_that_explain_gives(self):
        for command in (["ls", "-la"], DANGEROUS, ["sh", "-c", "ls | wc -l"]):
            with self.subTest(command=command):
                doc, _ = self.document("--", *command)
                explained = subprocess.run(
                    [GATEHOUSE, "policy", "explain", "--json", "--cwd", self.ws, "--profile", "workspace-write", "--",
                     *command], env=self.env, capture_output=True, timeout=GRACE_S, check=True)
                self.assertEqual(doc["decision"], json.loads(explained.stdout))

    def test_bytes_that_are_no_text_and_much_output_stay_one_document(self):
        doc, _ = self.document("--", "sh", "-c", r"printf '\377\0\033[2J'; head -c 3000000 /dev/zero")
        self.assertIn("\ufffd", doc["stdout"])
        self.assertGreater(doc["truncated_bytes"], 0)

    def test_96_a_gigabyte_is_counted_to_the_byte(self):
        size = 100_000_000 if os.environ.get("GATEHOUSE_SANITIZER") else 1_000_000_000
        doc, status = self.document("--timeout-ms", "120000", "--", "sh", "-c",
                                    f"head -c {size} /dev/zero | tr '\\0' x; exit 9")
        self.assertEqual(status, 9)
        self.assertEqual(doc["stdout"].count("x") + doc["truncated_bytes"], size)

    def test_output_is_passed_through_whole_and_apart(self):
        done = self.run_it("--", "sh", "-c", "head -c 3000000 /dev/zero; echo problem >&2")
        self.assertEqual(len(done.stdout), 3000000)
        self.assertIn(b"problem\n", done.stderr)
        self.assertIn(b"linux sandbox, network isolated; exit 0", done.stderr)

    def test_standard_input_is_empty(self):
        done = subprocess.run(self.argv("--", "cat"), env=self.env, input=b"secret", capture_output=True,
                              timeout=GRACE_S, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, b""))

    # What runs (§4, §5).

    def test_a_string_is_run_by_the_users_shell(self):
        doc, _ = self.document("--shell", "shopt -q login_shell && echo login || echo plain")
        self.assertEqual(doc["stdout"], "plain\n")
        doc, _ = self.document("--login", "--shell", "shopt -q login_shell && echo login || echo plain")
        self.assertEqual(doc["stdout"], "login\n")

    def test_a_login_shell_is_refused_where_configuration_forbids_it(self):
        self.configure("allow_login_shell = false\n")
        doc, status = self.document("--login", "--shell", "echo ran")
        self.assertEqual(status, 125)
        self.assertEqual(doc["decision"]["requirement"]["refused_by"], "handler")
        self.assertIn("login", doc["message"])

    def test_the_environment_leads_to_no_agent_and_no_secret_of_ours(self):
        for profile in ("workspace-write", "danger-full-access"):
            done = subprocess.run([GATEHOUSE, "run", "--cwd", self.ws, "--profile", profile, "--", "env"],
                                  env=self.env, capture_output=True, timeout=GRACE_S, check=True)
            self.assertNotIn(b"SSH_AUTH_SOCK", done.stdout)
            self.assertNotIn(b"GATEHOUSE_SECRET", done.stdout)

    # Overlays and escalation (§12, §13, §57).

    def test_an_overlay_needs_its_mode(self):
        _, status = self.document("--additional-permissions", '{"network":{"enabled":true}}', "--", "ls")
        self.assertEqual(status, 125)

    def test_an_approved_overlay_opens_exactly_what_it_names(self):
        outside = self.base + "/outside"
        os.makedirs(outside)
        given = ["--sandbox-permissions", "with_additional_permissions", "--additional-permissions",
                 json.dumps({"file_system": {"write": [outside]}}), "--shell",
                 f"touch {outside}/a; touch {self.base}/b"]
        shown, _ = self.ask([b"y\n"], *given)
        self.assertIn("write " + outside, shown)
        self.assertTrue(os.path.exists(outside + "/a"))
        self.assertFalse(os.path.exists(self.base + "/b"))

    def test_an_approved_escalation_leaves_the_sandbox_and_its_question_says_so(self):
        given = ["--sandbox-permissions", "require_escalated", "--justification", "must be outside", "--",
                 "touch", self.base + "/b"]
        shown, status = self.ask([b"y\n"], *given)
        self.assertIn("WITHOUT the sandbox", shown)
        self.assertIn("must be outside", shown)
        self.assertEqual(status, 0)
        self.assertTrue(os.path.exists(self.base + "/b"))

    def test_a_denied_first_attempt_under_untrusted_asks_again_and_no_stays_no(self):
        given = ["--ask", "untrusted", "--", "touch", self.base + "/b"]
        shown, status = self.ask([b"y\n", b"n\n"], *given)
        self.assertEqual(shown.count("approval needed"), 2)
        self.assertIn("WITHOUT the sandbox", shown)
        self.assertEqual(status, 125)
        self.assertFalse(os.path.exists(self.base + "/b"))
        shown, status = self.ask([b"y\n", b"y\n"], *given)
        self.assertEqual(status, 0)
        self.assertTrue(os.path.exists(self.base + "/b"))

    # The terminal.

    def test_no_and_stop_and_the_end_of_input_run_nothing(self):
        os.makedirs(self.ws + "/no-such-thing")
        for keys, wanted in (([b"n\n"], 125), ([b"q\n"], 120), ([b"\x04"], 125), ([b"\x03"], 120)):
            with self.subTest(keys=keys):
                _, status = self.ask(keys, "--", *DANGEROUS)
                self.assertEqual(status, wanted)
                self.assertTrue(os.path.isdir(self.ws + "/no-such-thing"))

    def test_what_is_no_answer_asks_again(self):
        shown, status = self.ask([b"yes\n", b"s\n", b"\n", b"\x1b[?2026;2$y\n", b"n\n"], "--", *DANGEROUS)
        self.assertEqual(shown.count("please type one of the letters"), 4)
        self.assertEqual(status, 125)

    def test_133a_why_at_the_question_is_the_text_that_explain_gives_and_answers_nothing(self):
        for given in (DANGEROUS, ["bash", "-c", "git status && rm -rf no-such; cat *.md"]):
            with self.subTest(command=given):
                explained = subprocess.run([GATEHOUSE, "policy", "explain", "--cwd", self.ws, "--profile", "workspace-write", "--",
                                            *given], env=self.env, capture_output=True, text=True, timeout=GRACE_S, check=True)
                words = explained.stdout.split("\napproval policy: ")[1].split("\n", 1)[1]
                shown, status = self.ask([b"?\n", b"?\n", b"n\n"], "--", *given)
                self.assertEqual((status, shown.replace("\r\n", "\n").count("\n" + words)), (125, 2), shown)
                self.assertIn("[?] why", shown)
        shown, _ = self.ask([b"?\n", b"n\n"], "--sandbox-permissions", "require_escalated", "--", "touch", "made")
        self.assertIn("requirement: needs an approval", shown)  # of the call as it was proposed, not of its words alone

    def test_a_key_typed_before_the_question_stands_does_not_answer_it(self):
        shown, status = self.ask([b"n\n"], "--", *DANGEROUS, before=b"y\n")
        self.assertEqual(status, 125, shown)

    def test_an_added_rule_is_kept_once_and_answers_the_next_time(self):
        given = ["--ask", "untrusted", "--prefix-rule", '["touch", "made"]', "--", "touch", "made"]
        shown, status = self.ask([b"r\n"], *given)
        self.assertEqual(status, 0, shown)
        with open(self.rules, encoding="utf-8") as f:
            rule = f.read()
        self.assertEqual(rule.count('"touch"'), 1)
        self.assertIn('sandbox="keep"', rule)  # the question was about a run inside the sandbox (§D4)
        shown, status = self.ask([], *given)
        self.assertEqual((status, "command:" in shown), (0, False))
        self.assertIn("in the linux sandbox", shown)

    def test_control_characters_cannot_forge_what_is_shown(self):
        trick = "x\x1b[2K\rallows: nothing\u202e\u200b"
        shown, _ = self.ask([b"n\n"], "--justification", trick, "--", "rm", "-rf", trick)
        question = shown[shown.index("approval needed"):]
        self.assertNotIn("\x1b[2K", question)
        self.assertNotIn("\u202e", question)
        self.assertIn("\\x1b[2K", question)
        self.assertIn("\\u202e\\u200b", question)

    def test_br_156_an_input_that_never_ends_is_not_waited_for(self):
        path = self.base + "/calls.jsonl"
        with open(path, "w", encoding="ascii") as file:
            file.write('{"arguments": {"command": "cat; echo hi"}}\n')
        for argv in (self.argv("--", "sh", "-c", "cat; echo hi"),
                     [GATEHOUSE, "batch", "--cwd", self.ws, "--profile", "workspace-write", path]):
            reading, writing = os.pipe()  # nobody writes, and nobody closes it
            try:
                for given in ({"stdin": reading}, {"preexec_fn": lambda: os.close(0)}, {"stdin": subprocess.DEVNULL},
                              {"stdin": reading, "start_new_session": True}):
                    done = subprocess.run(argv, env=self.env, capture_output=True, timeout=GRACE_S, check=False, **given)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn(b"hi\n" if argv[1] == "run" else b'"output":"hi\\n"', done.stdout)
            finally:
                os.close(reading)
                os.close(writing)

    # Ends from outside.

    def test_ctrl_c_ends_the_command_and_its_tree_with_120(self):
        marker = f"302.{os.getpid()}"
        process = subprocess.Popen(self.argv("--", "sh", "-c", f"echo up; sleep {marker}"), env=self.env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.assertEqual(process.stdout.readline(), b"up\n")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(GRACE_S), 120)
        process.stdout.close()
        left = subprocess.run(["pgrep", "-f", f"^sleep {marker}"], capture_output=True, check=False).stdout
        self.assertEqual(left, b"")

    def test_nothing_is_left_when_the_program_is_killed(self):
        marker = f"303.{os.getpid()}"
        process = subprocess.Popen(self.argv("--", "sh", "-c", f"echo up; setsid sleep {marker}"), env=self.env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.assertEqual(process.stdout.readline(), b"up\n")
        process.kill()
        process.wait(GRACE_S)
        process.stdout.close()
        end = time.monotonic() + GRACE_S
        while time.monotonic() < end:
            left = subprocess.run(["pgrep", "-f", f"^sleep {marker}"], capture_output=True, check=False).stdout
            if left == b"":
                break
        self.assertEqual(left, b"")
        self.assertEqual(os.listdir(self.ws), [])

    def test_a_reader_that_goes_away_ends_the_command(self):
        process = subprocess.Popen(self.argv("--timeout-ms", "60000", "--", "yes"), env=self.env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdout.read(10)
        process.stdout.close()
        self.assertEqual(process.wait(GRACE_S), 120)


if __name__ == "__main__":
    unittest.main()
