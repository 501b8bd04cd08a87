#!/usr/bin/env python3
"""A batch killed (-9) at ten moments spread over all of it and resumed each time gives the result set of an undisturbed
run, audit included (§202, §205). GATEHOUSE_BATCH_ITEMS: how many calls; 150 in the tests of every change, 5,000 in the
second tier."""
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
ITEMS = int(os.environ.get("GATEHOUSE_BATCH_ITEMS", "150"))
KILLS = 10
JOBS = 4


def command_of(n):
    """Some fail, some are refused; how often one ran is told by the file that it writes to."""
    return "rm -rf x" if n % 50 == 7 else f"echo {n} >> ran-{n}; echo {n}; exit {1 if n % 10 == 3 else 0}"


class Journal:
    """How many calls have started, as the journal says; reads only what is new."""

    def __init__(self, path):
        self.path, self.at, self.rest, self.started = path, 0, b"", set()

    def count(self):
        if os.path.exists(self.path):
            with open(self.path, "rb") as file:
                file.seek(self.at)
                new = file.read()
            self.at += len(new)
            *lines, self.rest = (self.rest + new).split(b"\n")
            self.started.update(line for line in lines if line.startswith(b'{"started"'))
        return len(self.started)


class Run:
    """Its own workspace, state and journal."""

    def __init__(self, base, name, calls, *options):
        self.base = f"{base}/{name}"
        self.ws = self.base + "/ws"
        os.makedirs(self.ws)
        self.env = dict(os.environ, HOME=self.base, GATEHOUSE_HOME=self.base + "/home", XDG_STATE_HOME=self.base + "/state")
        self.journal = self.base + "/journal"
        self.argv = [GATEHOUSE, "batch", "--cwd", self.ws, "--profile", "workspace-write", "-j", str(JOBS), "--journal", self.journal,
                     *options, calls]

    def going_on(self):
        """What a person types: the same command, with --resume once there is a journal."""
        return [*self.argv[:-1], "--resume", self.argv[-1]] if os.path.exists(self.journal) else self.argv

    def to_its_end(self):
        started = time.monotonic()
        done = subprocess.run(self.going_on(), env=self.env, capture_output=True, text=True, timeout=3600, check=False)
        self.said = f"{done.stderr.splitlines()[-1]}, {time.monotonic() - started:.0f} s"
        self.status = done.returncode
        results = [json.loads(line) for line in done.stdout.splitlines()]
        assert len({r["callId"] for r in results}) == len(results), "a result was told twice"
        # What an undisturbed run tells too: all but the times.
        return {r["callId"]: (r["index"], *(r["result"].get(field) for field in ("status", "exitCode", "output", "message")))
                for r in results}

    def kill_at(self, started):
        """-9 as soon as so many calls have started; how many had."""
        with subprocess.Popen(self.going_on(), env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            journal = Journal(self.journal)
            while journal.count() < started and run.poll() is None:
                time.sleep(0.001)
            run.send_signal(signal.SIGKILL)
        assert run.returncode == -signal.SIGKILL, f"it had ended by itself: {run.returncode}"
        return Journal(self.journal).count()

    def audit(self):
        """The kinds of the entries of each call, in order."""
        checked = subprocess.run([GATEHOUSE, "audit", "verify"], env=self.env, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        exported = subprocess.run([GATEHOUSE, "audit", "export"], env=self.env, capture_output=True, text=True, check=True)
        kinds = collections.defaultdict(list)
        for entry in map(json.loads, exported.stdout.splitlines()):
            if "call" in entry:
                kinds[entry["call"]].append(entry["kind"])
        return kinds

    def times_run(self, n):
        try:
            with open(f"{self.ws}/ran-{n}", encoding="ascii") as file:
                return len(file.read().split())
        except FileNotFoundError:
            return 0


class Kills(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.mkdtemp(prefix="gatehouse-kills-", dir="/var/tmp")
        cls.calls = cls.base + "/calls.jsonl"
        with open(cls.calls, "w", encoding="ascii") as file:
            for n in range(ITEMS):
                file.write(json.dumps({"callId": f"c{n}", "arguments": {"command": command_of(n)}}) + "\n")
        plain = Run(cls.base, "undisturbed", cls.calls)
        cls.results = plain.to_its_end()
        cls.audit = plain.audit()
        print(f"undisturbed: {plain.said}")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.base, True)

    def killed(self, name, *options):
        """One kill in each tenth of the batch, at a random place of it; then to the end."""
        seed = random.randrange(1 << 30)
        chance = random.Random(seed)
        run = Run(self.base, name, self.calls, *options)
        started = time.monotonic()
        places = [run.kill_at(ITEMS * tenth // KILLS + chance.randrange(1, ITEMS // KILLS - 2 * JOBS)) for tenth in range(KILLS)]
        results = run.to_its_end()
        print(f"{name}: {ITEMS} calls, killed after {places}, {time.monotonic() - started:.0f} s in all, seed {seed}; {run.said}")
        self.assertEqual(results.keys(), self.results.keys(), f"seed {seed}")
        return run, results, seed

    def test_202_the_undisturbed_run_is_as_it_should_be(self):
        self.assertEqual(len(self.results), ITEMS)
        for n in range(ITEMS):
            index, status, code, output, _ = self.results[f"c{n}"]
            self.assertEqual((index, status), (n, "declined" if n % 50 == 7 else "completed"))
            if status == "completed":
                self.assertEqual((code, output), (1 if n % 10 == 3 else 0, f"{n}\n"))

    def test_202_ten_kills_change_nothing(self):
        run, results, seed = self.killed("killed", "--retry-started")
        self.assertEqual({c: r for c, r in results.items() if r != self.results[c]}, {}, f"seed {seed}")
        again = [n for n in range(ITEMS) if run.times_run(n) > 1]
        self.assertLessEqual(len(again), KILLS * JOBS, f"seed {seed}: only what was under way ran again")
        kinds = run.audit()
        self.assertEqual(kinds.keys(), self.audit.keys(), f"seed {seed}")
        cut = 0
        for call, seen in kinds.items():
            # Each run of a call begins with its request: the last is whole, an earlier one was cut somewhere, or ended
            # and was killed before its end stood in the journal.
            starts = [i for i, kind in enumerate(seen) if kind == "request"] + [len(seen)]
            runs = [seen[a:b] for a, b in zip(starts, starts[1:])]
            self.assertEqual(runs[-1], self.audit[call], f"seed {seed}: {call}")
            for earlier in runs[:-1]:
                self.assertEqual(earlier, self.audit[call][:len(earlier)], f"seed {seed}: {call}")
            cut += len(runs) - 1
        self.assertLessEqual(cut, KILLS * JOBS, f"seed {seed}")

    def test_202_without_retry_started_no_call_runs_twice_and_those_that_were_cut_say_so(self):
        run, results, seed = self.killed("not-again")
        cut = 0
        for n in range(ITEMS):
            self.assertLessEqual(run.times_run(n), 1, f"seed {seed}: c{n}")
            result = results[f"c{n}"]
            if result[1] == "interrupted":
                cut += 1
                self.assertIn("earlier run", result[4])
            else:
                self.assertEqual(result, self.results[f"c{n}"], f"seed {seed}")
        self.assertLessEqual(cut, KILLS * JOBS, f"seed {seed}")
        kinds = run.audit()
        for call, seen in kinds.items():
            self.assertEqual(seen, self.audit[call][:len(seen)], f"seed {seed}: {call} has one run in the audit, cut or whole")
        whole = sum(seen == self.audit[call] for call, seen in kinds.items())
        self.assertGreaterEqual(whole, ITEMS - cut, f"seed {seed}")


if __name__ == "__main__":
    unittest.main()
