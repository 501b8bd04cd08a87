"""Stage 10, faults of the state folder and of the daemon: no decision that was recorded is lost, nothing runs without its boundary,
and the message names the cause and the next step."""
import json
import os
import random
import signal
import subprocess
import time
import unittest

from daemon_case import DaemonCase, process_count
from run_case import GATEHOUSE, GRACE_S


class StateFaults(DaemonCase):
    def test_205_kill_9_of_a_loaded_daemon_at_random_moments_loses_no_record_and_leaves_no_process(self):
        seed = random.randrange(1 << 30)
        chance = random.Random(seed)
        kept = 0
        for turn in range(4):
            daemon, url = self.serve()
            # Each command that runs leaves a line; `sleep` names the test's folder, so that what is left of it is found.
            load = self.load(url, 20, [f"echo {turn} >> {self.ws}/ran", f"sleep 600 # {self.base}"][:1 + turn % 2])
            time.sleep(chance.uniform(0.3, 1.5))  # the moment of the kill
            daemon.send_signal(signal.SIGKILL)
            daemon.wait()
            load.kill()
            entries = self.audit()
            self.assertGreaterEqual(len(entries), kept, f"seed {seed}")
            kept = len(entries)
        ran = 0
        if os.path.exists(self.ws + "/ran"):
            with open(self.ws + "/ran", encoding="ascii") as file:
                ran = len(file.readlines())
        attempts = sum(entry["kind"] == "attempt" for entry in entries)
        self.assertGreater(ran, 0, f"seed {seed}")
        self.assertGreaterEqual(attempts, ran, f"seed {seed}: a command ran that is not recorded")
        deadline = time.monotonic() + GRACE_S
        while process_count(self.base) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(process_count(self.base), 0, f"seed {seed}: commands outlived their daemon")

    def test_two_daemons_on_one_state_folder_record_side_by_side_and_a_reviewer_is_asked_which(self):
        (one, first), (two, second) = self.serve(), self.serve()
        loads = [self.load(url, 2, ["ls"]) for url in (first, second)]
        calls = sum(json.loads(load.communicate(timeout=GRACE_S)[0])["calls"] for load in loads)
        ended = sum(entry["kind"] == "end" for entry in self.audit())
        self.assertGreaterEqual(ended, calls)
        which = self.gatehouse("review", "--list")
        self.assertEqual((which.returncode, which.stdout), (2, ""))
        for url in (first, second):
            self.assertIn(url, which.stderr)
        self.assertIn("--connect", which.stderr)
        for daemon in (one, two):
            daemon.terminate()
            self.assertEqual(daemon.wait(GRACE_S), 0)

    def test_a_state_folder_that_cannot_be_written_stops_all_and_says_which(self):
        self.assertEqual(self.gatehouse("run", "--cwd", self.ws, "--", "true").returncode, 0)
        readonly = f"mount --bind {self.base}/state {self.base}/state && mount -o remount,ro,bind {self.base}/state && exec \"$@\""
        inside = ["unshare", "-m", "sh", "-c", readonly, "-"]
        if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
            self.skipTest("this test mounts, which only root can")
        for words in (["run", "--cwd", self.ws, "--", "touch", "ran"], ["serve"], ["exec-server"], ["mcp"]):
            with self.subTest(words=words):
                done = subprocess.run([*inside, GATEHOUSE, *words], env=self.env, cwd=self.ws, stdin=subprocess.DEVNULL, capture_output=True,
                                      text=True, timeout=GRACE_S, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(self.state, done.stderr)
                self.assertRegex(done.stderr, "Read-only file system|mounted for writing")
                self.assertIn("next:", done.stderr)
        self.assertFalse(os.path.exists(self.ws + "/ran"))

    def test_damaged_files_of_the_state_are_told_by_their_name_and_allow_nothing(self):
        daemon, _ = self.serve()
        daemon.kill()
        daemon.wait()
        for name, stops in (("tokens/reviewer.token", True), ("tokens/agent.token", True), (f"daemons/{daemon.pid}", False)):
            path = os.path.join(self.state, name)
            if not os.path.exists(path):
                continue
            with open(path, "rb") as file:
                before = file.read()
            with open(path, "wb") as file:
                file.write(b"\xff\x00garbage\n" * 9)
            if stops:
                done = self.gatehouse("serve", cwd=self.ws)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(path, done.stderr)
                self.assertIn("next:", done.stderr)
            else:
                done = self.gatehouse("review", "--list", cwd=self.ws)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("no `gatehouse serve`", done.stderr)
            with open(path, "wb") as file:
                file.write(before)


if __name__ == "__main__":
    unittest.main()
