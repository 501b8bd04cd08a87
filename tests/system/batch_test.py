#!/usr/bin/env python3
"""`gatehouse batch` (§202): JSONL in, JSONL out, through the real chain; runs that are cut at any moment go on."""
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from run_case import GRACE_S

GATEHOUSE = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")


class Batch(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gatehouse-batch-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, self.base, True)
        self.ws = os.path.join(self.base, "ws")
        os.mkdir(self.ws)
        self.env = dict(os.environ, HOME=self.base, GATEHOUSE_HOME=self.base + "/home", XDG_STATE_HOME=self.base + "/state")

    def write(self, lines):
        path = os.path.join(self.base, "calls.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            for line in lines:
                file.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        return path

    def argv(self, path, *options):
        return [GATEHOUSE, "batch", "--cwd", self.ws, "--profile", "workspace-write", *options, path]

    def run_batch(self, lines, *options):
        done = subprocess.run(self.argv(self.write(lines), *options), env=self.env, capture_output=True, text=True,
                              timeout=120, check=False)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    @staticmethod
    def call(command, **more):
        return {"arguments": {"command": command}, **more}

    def test_every_call_has_its_result_and_the_status_tells(self):
        status, results, said = self.run_batch([self.call("echo one"), "", self.call("echo two", callId="b")], "-j", "2")
        self.assertEqual(status, 0, said)
        self.assertEqual({(r["callId"], r["result"]["output"]) for r in results}, {("item-1", "one\n"), ("b", "two\n")})
        status, results, said = self.run_batch([self.call("exit 3"), self.call("true")])
        self.assertEqual((status, results[0]["result"]["exitCode"]), (1, 3))
        self.assertIn("1 fine, 1 failed", said)

    def test_results_in_the_order_of_the_input_when_asked(self):
        lines = [self.call(f"sleep {0.4 if n == 0 else 0}; echo {n}") for n in range(5)]
        _, results, _ = self.run_batch(lines, "-j", "5", "--order", "input")
        self.assertEqual([r["index"] for r in results], [0, 1, 2, 3, 4])

    def test_what_needs_an_approval_is_refused_and_said(self):
        status, results, said = self.run_batch([self.call("rm -rf x"), self.call("true")])
        self.assertEqual(status, 3)
        self.assertIn("1 refused", said)
        self.assertIn("nobody is asked in a batch", results[0]["result"]["message"])

    def test_a_wrong_line_is_named_and_nothing_runs(self):
        status, results, said = self.run_batch(
            [self.call("touch ran"), "{", self.call("true", callId="a"), self.call("true", callId="a"),
             {"arguments": {"command": "true", "no_such": 1}}, {"tool": "fly", "arguments": {}}])
        self.assertEqual((status, results), (2, []))
        for place in (":2:", ":4:", ":5:", ":6:"):
            self.assertIn(place, said)
        self.assertFalse(os.path.exists(self.ws + "/ran"))

    def test_fail_fast_starts_nothing_more(self):
        status, results, said = self.run_batch([self.call("false"), self.call("touch later")], "--fail-fast")
        self.assertEqual((status, len(results)), (1, 1))
        self.assertIn("1 not run", said)
        self.assertFalse(os.path.exists(self.ws + "/later"))

    def test_a_journal_belongs_to_its_input(self):
        journal = self.base + "/journal"
        self.assertEqual(self.run_batch([self.call("true")], "--journal", journal)[0], 0)
        status, _, said = self.run_batch([self.call("false")], "--journal", journal)
        self.assertEqual(status, 2)
        self.assertIn("another input", said)

    def test_a_journal_of_calls_in_another_folder_tells_no_old_results(self):
        journal, other = self.base + "/journal", self.base + "/other"
        os.mkdir(other)
        self.assertEqual(self.run_batch([self.call("true")], "--journal", journal)[0], 0)
        first, self.ws = self.ws, other
        status, results, said = self.run_batch([self.call("true")], "--journal", journal)
        self.assertEqual((status, results), (2, []))
        self.assertIn(f"local:{first}", said)
        self.assertIn(f"local:{other}", said)

    def test_a_run_that_is_killed_at_any_moment_goes_on_and_runs_no_finished_call_again(self):
        items = 60
        path = self.write([self.call(f"echo {n} >> log; sleep 0.02") for n in range(items)])
        journal = self.base + "/journal"
        seed = random.randrange(1 << 30)
        chance = random.Random(seed)
        argv = self.argv(path, "-j", "3", "--journal", journal)
        for _ in range(4):
            with subprocess.Popen(argv, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
                time.sleep(chance.uniform(0.05, 0.6))  # the moment of the kill, not a wait for something
                run.send_signal(signal.SIGKILL)
        done = subprocess.run(argv, env=self.env, capture_output=True, text=True, timeout=120, check=False)
        results = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(sorted(r["index"] for r in results), list(range(items)), f"seed {seed}: {done.stderr}")
        with open(self.ws + "/log", encoding="ascii") as file:
            ran = collections.Counter(file.read().split())
        self.assertEqual({n: c for n, c in ran.items() if c > 1}, {}, f"seed {seed}")
        for r in results:
            if r["result"]["status"] == "interrupted":
                self.assertIn("earlier run", r["result"]["message"])
            else:
                self.assertEqual((r["result"]["status"], ran[str(r["index"])]), ("completed", 1), f"seed {seed}")
        # Again: everything is remembered, only what was cut runs.
        again = subprocess.run([*argv[:-1], "--retry-started", path], env=self.env, capture_output=True, text=True,
                               timeout=120, check=False)
        results = [json.loads(line) for line in again.stdout.splitlines()]
        self.assertEqual((again.returncode, {r["result"]["status"] for r in results}), (0, {"completed"}), again.stderr)

    def test_only_what_failed_runs_again_and_only_where_asked(self):
        flaky = self.call("echo x >> tries; test $(wc -l < tries) -ge 3")
        status, results, said = self.run_batch([flaky, self.call("echo y >> once", callId="b")], "--retries", "5")
        self.assertEqual((status, [r["callId"] for r in results]), (0, ["item-1", "b"]), said)
        with open(self.ws + "/tries", encoding="ascii") as file:
            self.assertEqual(len(file.read().split()), 3)
        with open(self.ws + "/once", encoding="ascii") as file:
            self.assertEqual(len(file.read().split()), 1)
        status, results, _ = self.run_batch([self.call("echo z >> more; false")], "--retries", "2")
        self.assertEqual((status, len(results)), (1, 1))
        with open(self.ws + "/more", encoding="ascii") as file:
            self.assertEqual(len(file.read().split()), 3)

    def test_a_limit_for_calls_that_name_none(self):
        own = {"arguments": {"command": "sleep 1; echo done", "timeout_ms": 20000}, "callId": "own"}
        status, results, said = self.run_batch([self.call("sleep 30"), own], "--timeout-ms", "300")
        self.assertEqual(status, 1, said)
        self.assertEqual([r["result"]["status"] for r in results], ["timedOut", "completed"])

    def test_a_daemon_runs_them(self):
        serve = subprocess.Popen([GATEHOUSE, "serve", "--profile", "workspace-write"], cwd=self.ws, env=self.env, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(serve.stdout.close)
        self.addCleanup(serve.wait)
        self.addCleanup(serve.terminate)
        url = serve.stdout.readline().strip()
        path = self.write([self.call("echo one"), self.call("exit 4", callId="b"), self.call("rm -rf x")])
        argv = [GATEHOUSE, "batch", "--cwd", self.ws, "--url", url, "--ask", "never", "-j", "2", "--order", "input", path]
        done = subprocess.run(argv, env=self.env, capture_output=True, text=True, timeout=120, check=False)
        results = [json.loads(line)["result"] for line in done.stdout.splitlines()]
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual([(r["callId"], r["status"]) for r in results], [("item-1", "completed"), ("b", "completed"), ("item-3", "rejected")])
        self.assertEqual((results[0]["output"], results[1]["exitCode"]), ("one\n", 4))
        wrong = subprocess.run([*argv[:5], "ws://127.0.0.1:1", path], env=self.env, capture_output=True, text=True, timeout=GRACE_S, check=False)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("cannot connect", wrong.stderr)

    def test_wrong_combinations_are_usage(self):
        path = self.write([self.call("true")])
        for options in (["--url", "ws://127.0.0.1:1", "--rules", "x"], ["--token-file", "x"], ["--engine", "cloud"], ["--engine", "slurm"],
                        ["--tasks", "2"], ["--retries", "many"], ["--url", "http://x"]):
            done = subprocess.run([GATEHOUSE, "batch", *options, path], env=self.env, capture_output=True, text=True, timeout=GRACE_S, check=False)
            self.assertEqual(done.returncode, 2, f"{options}: {done.stderr}")

    def test_ctrl_c_ends_what_runs_and_says_so(self):
        path = self.write([self.call("echo $$ > pid; sleep 60"), self.call("true")])
        with subprocess.Popen(self.argv(path), env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as run:
            for _ in range(1000):
                if os.path.exists(self.ws + "/pid"):
                    break
                time.sleep(0.01)
            run.send_signal(signal.SIGINT)
            out, said = run.communicate(timeout=GRACE_S)
        self.assertEqual(run.returncode, 120, said)
        self.assertEqual(json.loads(out.splitlines()[0])["result"]["status"], "interrupted")
        self.assertIn("1 not run", said)


if __name__ == "__main__":
    unittest.main()
