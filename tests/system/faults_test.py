"""Stage 10, faults of the machine: nothing runs without its boundary, nothing is lost, and the message names the cause."""
import json
import os
import resource
import signal
import subprocess
import sys
import time
import unittest

from daemon_case import limited, process_count
from run_case import DANGEROUS, GATEHOUSE, GRACE_S, RunCase, SANITIZED


class Faults(RunCase):
    def reported(self, done):
        """Either the command ran, wholly and inside, or nothing ran and a sentence says why."""
        out, err = done.stdout.decode(), done.stderr.decode()
        if done.returncode == 0:
            self.assertEqual(out, "ran\n")
            self.assertIn("in the linux sandbox", err)
            return True
        self.assertEqual(out, "", err)
        self.assertIn(done.returncode, (2, 121), err)
        self.assertIn("next:", err.lower())
        self.assertNotIn("terminate called", err)
        return False

    @unittest.skipIf(SANITIZED, "the sanitizer needs descriptors of its own")
    def test_out_of_descriptors(self):
        ran = {limit: self.reported(self.run_it("--", "/bin/echo", "ran", preexec_fn=limited((resource.RLIMIT_NOFILE, limit))))
               for limit in (5, 6, 7, 8, 9, 11, 13, 15, 17, 19, 21, 23, 64)}
        self.assertTrue(ran[64])
        self.assertFalse(ran[7])

    @unittest.skipIf(SANITIZED, "the sanitizer needs processes of its own")
    @unittest.skipUnless(os.getuid() == 0, "needs another user id, whose processes it counts")
    def test_out_of_processes(self):
        user = 64999  # has no other processes that count against the limit
        for folder in (self.base, self.ws, self.base + "/home"):
            os.chown(folder, user, user)

        def become(limit):
            resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        ran = {limit: self.reported(self.run_it("--", "/bin/echo", "ran", preexec_fn=lambda limit=limit: become(limit)))
               for limit in (1, 2, 3, 4, 5, 6, 64)}
        self.assertTrue(ran[64])
        self.assertFalse(ran[1])

    def test_a_command_without_memory_ends_alone(self):
        done = self.run_it("--", "/bin/sh", "-c", "ulimit -v 20000; exec python3 -c 'x = bytearray(1 << 30)'")
        self.assertNotIn(done.returncode, (0, 121, 125), done.stderr)
        self.assertEqual(self.run_it("--", "/bin/echo", "ran").stdout, b"ran\n")

    def test_nothing_runs_when_this_process_has_no_memory(self):
        for kib in (1_000, 10_000, 20_000, 25_000, 30_000):
            with self.subTest(kib=kib):
                done = self.run_it("--", "/bin/echo", "ran", preexec_fn=limited((resource.RLIMIT_AS, kib * 1024)))
                # Below some size not even the program loader gets on, and speaks for itself.
                if done.returncode == 0:
                    self.reported(done)
                else:
                    self.assertEqual(done.stdout, b"", done.stderr)

    @unittest.skipUnless(os.getuid() == 0, "mounts a small file system")
    def test_a_full_disk_loses_no_rule_and_allows_nothing(self):
        """The settings stand on a full disk: a rule that cannot be added is an error, the old ones hold."""
        script = f"""
            set -e
            mkdir -p {self.home}/rules
            mount -t tmpfs -o size=64k tmpfs {self.home}
            mkdir {self.home}/rules
            echo 'prefix_rule(["rm"], "forbidden", justification="not here")' > {self.home}/rules/default.rules
            dd if=/dev/zero of={self.home}/fill bs=1k 2>/dev/null || true
            set +e
            {GATEHOUSE} run --cwd {self.ws} --profile workspace-write -- {' '.join(DANGEROUS)}
            echo status $?
            cat {self.home}/rules/default.rules"""
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script], env=self.env,
                              capture_output=True, text=True, timeout=GRACE_S, check=False, stdin=subprocess.DEVNULL)
        self.assertIn("status 125", done.stdout, done.stderr)
        self.assertIn('"forbidden"', done.stdout)
        self.assertIn("not here", done.stderr)

    def test_standard_output_that_is_full_is_no_success(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([GATEHOUSE, "policy", "explain", "--json", "--", "ls"], env=self.env, stdout=full,
                                  stderr=subprocess.PIPE, timeout=GRACE_S, check=False)
        self.assertNotEqual(done.returncode, 0)

    def test_standard_output_that_is_full_was_a_failure_without_a_word(self):
        for words in (["help"], ["--version"], ["config", "show", "--json"], ["doctor", "--json"], ["completions", "bash"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([GATEHOUSE, *words], env=self.env, stdout=full, stderr=subprocess.PIPE, text=True, timeout=GRACE_S,
                                      check=False)
            self.assertEqual(done.returncode, 1, words)
            self.assertEqual(done.stderr.count("standard output cannot be written: No space left on device"), 1, (words, done.stderr))

    def test_a_tree_that_changed_its_number_outlived_the_time_limit_without_a_boundary(self):
        mark = f"gatehouse-faults-hop-{os.getpid()}"
        hops = self.ws + "/hop.py"
        with open(hops, "w", encoding="utf-8") as file:
            file.write(f"ALIVE_S = {3 * GRACE_S}" + """
import ctypes, os, signal, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
ctypes.CDLL(None).prctl(36, 1)  # its orphans come to it, and to nobody when it ends
end = time.monotonic() + ALIVE_S
if os.fork():
    time.sleep(ALIVE_S)
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    time.sleep(0.002)
""")
        for _ in range(3):
            done = subprocess.run([GATEHOUSE, "run", "--cwd", self.ws, "--profile", "danger-full-access", "--ask", "never",
                                   "--timeout-ms", "700", "--", sys.executable, hops, mark], env=self.env, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=GRACE_S, check=False)
            self.assertEqual(done.returncode, 124, done.stderr)
            self.assertIn("killed since it did not end", done.stderr)
            deadline = time.monotonic() + GRACE_S
            while process_count(mark) and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertEqual(process_count(mark), 0)

    def test_a_killed_run_leaves_no_command(self):
        mark = f"/tmp/gatehouse-faults-{os.getpid()}"
        for after in (0.02, 0.1, 0.3):
            host = subprocess.Popen(self.argv("--timeout-ms", "60000", "--", "/bin/sh", "-c", f": {mark}; sleep 50; sleep 50"),
                                    env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
            time.sleep(after)  # a moment of its life, whichever
            host.send_signal(signal.SIGKILL)
            host.wait()
            deadline = time.monotonic() + GRACE_S
            while process_count(mark) and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertEqual(process_count(mark), 0)

    def test_99a_what_a_hook_or_the_reviewer_had_started_outlived_a_run_that_was_ended(self):
        mark = f"/tmp/gatehouse-faults-own-{os.getpid()}"
        script = os.path.join(self.base, "own.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write("trap '' TERM HUP INT\n" + f"setsid -f sh -c ': {mark}; sleep 50; sleep 50'\n" * 2 + "sleep 50; sleep 50\n")
        hook = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": f"sh {script}"}]}]}}
        reviewer = f'approvals_reviewer = "auto_review"\n[auto_review]\ncommand = ["/bin/sh", "{script}"]\n'
        for name, text, command in (("hooks.json", json.dumps(hook), ("true",)), ("config.toml", reviewer, DANGEROUS)):
            for how in (signal.SIGKILL, signal.SIGTERM):
                with self.subTest(file=name, how=how.name):
                    self.write(name, text)
                    host = subprocess.Popen(self.argv("--", *command), env=self.env, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    self.addCleanup(host.kill)
                    deadline = time.monotonic() + GRACE_S
                    while process_count(mark) < 2 and time.monotonic() < deadline:
                        time.sleep(0.05)
                    self.assertGreaterEqual(process_count(mark), 2)  # more while they are being made
                    host.send_signal(how)
                    host.wait()
                    while process_count(mark) and time.monotonic() < deadline:
                        time.sleep(0.05)
                    self.assertEqual(process_count(mark), 0)
                    os.unlink(os.path.join(self.home, name))

    def test_settings_that_are_no_text_stop_everything(self):
        for name in ("config.toml", "hooks.json"):
            with self.subTest(file=name):
                self.write(name, "")
                with open(os.path.join(self.home, name), "wb") as file:
                    file.write(bytes(range(256)) * 8)
                done = self.run_it("--", "/bin/echo", "ran")
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertIn(name.encode(), done.stderr)
                os.unlink(os.path.join(self.home, name))

    def test_a_rule_file_that_is_no_text_asks(self):
        self.write("rules/torn.rules", "")
        with open(os.path.join(self.home, "rules/torn.rules"), "wb") as file:
            file.write(os.urandom(4096))
        done = self.run_it("--ask", "untrusted", "--json", "--", "/bin/echo", "ran")
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertEqual(json.loads(done.stdout)["attempts"], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
