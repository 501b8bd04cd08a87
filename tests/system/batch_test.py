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

    def test_ctrl_c_ends_what_runs_and_says_so(self):
        path = self.write([self.call("echo $$ > pid; sleep 60"), self.call("true")])
        with subprocess.Popen(self.argv(path), env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as run:
            for _ in range(1000):
                if os.path.exists(self.ws + "/pid"):
                    break
                time.sleep(0.01)
            run.send_signal(signal.SIGINT)
            out, said = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 120, said)
        self.assertEqual(json.loads(out.splitlines()[0])["result"]["status"], "interrupted")
        self.assertIn("1 not run", said)


if __name__ == "__main__":
    unittest.main()
