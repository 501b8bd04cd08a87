#!/usr/bin/env python3
"""A batch killed (-9) at ten random moments and resumed each time gives the result set of an undisturbed run, audit
included (§202, §205). GATEHOUSE_BATCH_ITEMS: how many calls; 150 in the tests of every change, 5,000 in the second tier."""
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


class Kills(unittest.TestCase):
    def test_202_ten_kills_change_nothing(self):
        base = tempfile.mkdtemp(prefix="gatehouse-kills-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, base, True)
        ws = base + "/ws"
        os.mkdir(ws)
        env = dict(os.environ, HOME=base, GATEHOUSE_HOME=base + "/home", XDG_STATE_HOME=base + "/state")
        calls = base + "/calls.jsonl"
        with open(calls, "w", encoding="ascii") as file:
            for n in range(ITEMS):
                # Some fail, some are refused; whether one runs is told by the file that it makes.
                command = "rm -rf x" if n % 50 == 7 else f"echo {n}; : >> ran-{n}; exit {1 if n % 10 == 3 else 0}"
                file.write(json.dumps({"callId": f"c{n}", "arguments": {"command": command}}) + "\n")
        argv = [GATEHOUSE, "batch", "--cwd", ws, "--profile", "workspace-write", "-j", "4", "--journal", base + "/journal", "--retry-started", calls]
        seed = random.randrange(1 << 30)
        chance = random.Random(seed)
        started = time.monotonic()
        for _ in range(KILLS):
            with subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
                time.sleep(chance.uniform(0.05, 0.4) * max(1.0, ITEMS / 1000))  # the moment of the kill
                run.send_signal(signal.SIGKILL)
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=3600, check=False)
        results = {r["callId"]: r["result"] for r in map(json.loads, done.stdout.splitlines())}
        print(f"{ITEMS} calls, {KILLS} kills, {time.monotonic() - started:.0f} s: {done.stderr.splitlines()[-1]}")
        self.assertEqual(len(results), ITEMS, f"seed {seed}: {done.stderr}")
        for n in range(ITEMS):
            said = results[f"c{n}"]
            if n % 50 == 7:
                self.assertEqual(said["status"], "declined", f"seed {seed}: {said}")
                self.assertFalse(os.path.exists(f"{ws}/ran-{n}"))
            else:
                self.assertEqual((said["status"], said["exitCode"], said["output"]), ("completed", 1 if n % 10 == 3 else 0, f"{n}\n"), f"seed {seed}")
                self.assertTrue(os.path.exists(f"{ws}/ran-{n}"))

        checked = subprocess.run([GATEHOUSE, "audit", "verify"], env=env, capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        exported = subprocess.run([GATEHOUSE, "audit", "export"], env=env, capture_output=True, text=True, check=True)
        entries = [json.loads(line) for line in exported.stdout.splitlines()]
        count = collections.Counter((e["kind"], e.get("call", "")) for e in entries)
        for n in range(ITEMS):
            call = f"c{n}"
            ran = n % 50 != 7
            # At least once each; more often only where a kill came between the start and the end.
            self.assertGreaterEqual(count["request", call], 1, f"seed {seed}")
            self.assertGreaterEqual(count["end", call], 1, f"seed {seed}")
            self.assertEqual(count["attempt", call] >= 1, ran, f"seed {seed}")
        again = [call for (kind, call), number in count.items() if kind == "end" and number > 1]
        self.assertLessEqual(len(again), KILLS * 4, f"seed {seed}: only what was under way ran again")


if __name__ == "__main__":
    unittest.main()
