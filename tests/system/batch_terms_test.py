#!/usr/bin/env python3
"""`gatehouse batch` (§202): who approves, what is shown where, and each exit status.

Danger is only ever proposed on names that do not exist, inside a folder made for the test."""
import json
import os
import pty
import subprocess
import threading
import unittest

import exec_client
from batch_case import BatchCase
from run_case import GATEHOUSE, GRACE_S

DANGER = "rm -rf no-such-thing"


class Terms(BatchCase):
    def batch(self, path, *options):
        done = subprocess.run([GATEHOUSE, "batch", "--cwd", self.ws, "--profile", "workspace-write", *options, path], env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GRACE_S, check=False)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def test_202_each_exit_status_has_its_meaning(self):
        for commands, status, said in ((["true"], 0, "1 fine"), (["true", "false"], 1, "1 fine, 1 failed"), (["true", DANGER], 3, "1 fine, 1 refused"),
                                       (["false", DANGER], 1, "1 failed, 1 refused"), (["no-such-program"], 1, "1 failed")):
            seen, results, told = self.batch(self.calls(*commands))
            self.assertEqual((seen, len(results)), (status, len(commands)), told)
            self.assertIn(said, told)
        path = self.calls("true")
        with open(path, "a", encoding="utf-8") as file:
            file.write("{\n")
        self.assertEqual(self.batch(path)[:2], (2, []))

    def test_202_the_summary_is_a_table_of_what_was_not_fine(self):
        path = self.calls("true", DANGER, *["exit 7"] * 5)
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"callId": "c7", "arguments": {"command": "sleep 30", "timeout_ms": 300}}) + "\n")
        _, _, said = self.batch(path)
        self.assertEqual([line.split() for line in said.splitlines()[-4:]],
                         [["5", "exit", "status", "7", "c2,", "c3,", "c4,", "…"], ["1", "declined", "by", "a", "reviewer", "c1"],
                          ["1", "ran", "out", "of", "time", "c7"], ["batch:", "1", "fine,", "6", "failed,", "1", "refused"]])
        path = self.base + "/escapes.jsonl"
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps({"callId": "a\x1b[2Jb", "arguments": {"command": "false"}}) + "\n")
        self.assertNotIn("\x1b", self.batch(path)[2])

    def test_202_the_summary_is_also_json(self):
        status, lines, said = self.batch(self.calls("true", DANGER, *["exit 7"] * 5), "--json")
        self.assertEqual(status, 1, said)
        self.assertEqual(lines[-1], {"summary": {"calls": 7, "fine": 1, "failed": 5, "refused": 1, "interrupted": 0, "not_run": 0, "remembered": 0,
                                                 "not_fine": [{"ending": "exit status 7", "calls": 5, "first": ["c2", "c3", "c4"]},
                                                              {"ending": "declined by a reviewer", "calls": 1, "first": ["c1"]}]},
                                     "exit_status": 1})
        self.assertEqual(sorted(line["index"] for line in lines[:-1]), list(range(7)))
        self.assertNotIn("refused", said)
        self.assertEqual(self.batch(self.calls("true"), "--json")[1][-1]["summary"]["fine"], 1)
        token = self.base + "/token"
        with open(token, "w", encoding="ascii") as file:
            file.write("x")
        os.chmod(token, 0o600)
        status, lines, said = self.batch(self.calls("true"), "--json", "--url", "ws://127.0.0.1:1", "--token-file", token)
        self.assertEqual((status, len(lines), set(lines[0]), lines[0]["summary"]["fine"], lines[0]["failure"]["kind"], lines[0]["exit_status"]),
                         (1, 1, {"summary", "failure", "exit_status"}, 0, "io", 1), said)

    def test_202_a_rule_of_a_file_approves(self):
        rules = self.base + "/my.rules"
        with open(rules, "w", encoding="utf-8") as file:
            file.write('prefix_rule(pattern=["rm", "-rf", "no-such-thing"], decision="allow")\n')
        self.assertEqual(self.batch(self.calls(DANGER))[0], 3)
        status, results, said = self.batch(self.calls(DANGER, "rm -rf other"), "--rules", rules)
        self.assertEqual((status, [r["result"]["status"] for r in results]), (3, ["completed", "declined"]), said)

    def test_202_a_hook_approves(self):
        answer = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}
        script = self.base + "/hook.sh"
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"grep -q no-such-thing && echo '{json.dumps(answer)}'; exit 0\n")
        self.write("hooks.json", json.dumps({"hooks": {"PermissionRequest": [{"matcher": "*", "hooks": [{"type": "command", "command": f"sh {script}"}]}]}}))
        status, results, said = self.batch(self.calls(DANGER, "rm -rf other"))
        self.assertEqual((status, [r["result"]["status"] for r in results]), (3, ["completed", "declined"]), said)

    def test_202_the_automatic_reviewer_approves(self):
        script = self.base + "/review.sh"
        allow = {"outcome": "allow", "risk_level": "low", "user_authorization": "high", "rationale": "asked for"}
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"cat > /dev/null; echo '{json.dumps(allow)}'\n")
        self.configure(f'approvals_reviewer = "auto_review"\n[auto_review]\ncommand = ["/bin/sh", "{script}"]\n')
        status, results, said = self.batch(self.calls(DANGER))
        self.assertEqual((status, results[0]["result"]["exitCode"]), (0, 0), said)

    def test_202_a_console_at_the_daemon_approves(self):
        server = subprocess.Popen([GATEHOUSE, "serve", "--profile", "workspace-write"], cwd=self.ws, env=self.env, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        server.url = server.stdout.readline().strip()
        server.port = int(server.url.rsplit(":", 1)[1])
        tokens = [os.path.join(folder, "reviewer.token") for folder, _, names in os.walk(self.base) if "reviewer.token" in names]
        with open(tokens[0], encoding="ascii") as file:
            reviewer = exec_client.Client(server, {"Authorization": f"Bearer {file.read().strip()}"})
        reviewer.call("initialize", clientInfo={"name": "console", "version": "1"}, capabilities={"gatehouse": {"approvals": True}})
        reviewer.send({"method": "initialized", "params": {}})

        def answers():
            for decision in ("accept", "decline"):
                while (question := reviewer.receive(GRACE_S)).get("method") != "item/commandExecution/requestApproval":
                    pass
                reviewer.send({"id": question["id"], "result": {"decision": decision}})
        answering = threading.Thread(target=answers)
        answering.start()
        done = subprocess.run([GATEHOUSE, "batch", "--cwd", self.ws, "--url", server.url, self.calls(DANGER, "rm -rf other")], env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GRACE_S, check=False)
        answering.join()
        reviewer.drop()
        results = [json.loads(line)["result"]["status"] for line in done.stdout.splitlines()]
        self.assertEqual((done.returncode, results), (3, ["completed", "declined"]), done.stderr)

    def at_terminal(self, argv):
        """Standard error is a terminal, standard output is not: what each was given, and the status."""
        terminal, inside = pty.openpty()
        with open(self.base + "/out", "wb") as out:
            running = subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=inside)
        os.close(inside)
        shown = b""
        try:
            while data := os.read(terminal, 65536):
                shown += data
        except OSError:  # the other end is closed
            pass
        os.close(terminal)
        with open(self.base + "/out", encoding="utf-8") as file:
            return shown.decode(), file.read(), running.wait(GRACE_S)

    def test_202_a_terminal_shows_a_bar_and_a_file_gets_plain_lines(self):
        path = self.calls(*["true"] * 20)
        argv = [GATEHOUSE, "batch", "--cwd", self.ws, "--profile", "workspace-write", path]
        shown, out, status = self.at_terminal(argv)
        self.assertEqual((status, len(out.splitlines())), (0, 20), shown)
        for n in range(1, 21):
            self.assertIn(f"] {n}/20", shown)
        self.assertIn("\r[" + "#" * 15 + " " * 15 + "] 10/20", shown)
        self.assertTrue(shown.endswith("batch: 20 fine\r\n"), shown)
        status, results, said = self.batch(path)
        self.assertEqual((status, len(results)), (0, 20))
        self.assertEqual(said.splitlines(), [f"batch: {n}/20" for n in range(2, 21, 2)] + ["batch: 20 fine"])

    def test_202_at_most_so_many_run_at_a_time(self):
        # Each notes itself while it runs: the most that saw each other.
        with open(self.ws + "/count.sh", "w", encoding="ascii") as file:
            file.write("touch running.$1; ls | grep -c '^running'; sleep 0.2; rm running.$1\n")
        for jobs in (1, 3):
            status, results, said = self.batch(self.calls(*[f"sh count.sh {n}" for n in range(9)]), "-j", str(jobs))
            self.assertEqual(status, 0, said)
            most = max(int(r["result"]["output"]) for r in results)
            self.assertLessEqual(most, jobs)
            self.assertGreaterEqual(most, min(jobs, 2))

    def test_202_a_call_that_was_refused_is_not_retried(self):
        status, _, said = self.batch(self.calls(DANGER), "--retries", "3")
        self.assertEqual(status, 3, said)
        entries = subprocess.run([GATEHOUSE, "audit", "export", "--kind", "request"], env=self.env, capture_output=True, text=True, check=True).stdout
        self.assertEqual(len(entries.splitlines()), 1)

    def test_202_a_resumed_fail_fast_run_goes_on_past_the_failure(self):
        path, journal = self.calls("false", "touch later"), self.base + "/journal"
        for _ in range(2):
            status, results, said = self.batch(path, "--fail-fast", "--journal", journal)
            self.assertEqual((status, [r["callId"] for r in results]), (1, ["c0"]), said)
            self.assertFalse(os.path.exists(self.ws + "/later"))
        status, results, said = self.batch(path, "--journal", journal)
        self.assertEqual((status, len(results)), (1, 2), said)
        self.assertTrue(os.path.exists(self.ws + "/later"))


if __name__ == "__main__":
    unittest.main()
