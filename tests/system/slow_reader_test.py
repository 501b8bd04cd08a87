"""§95, §204 A reader of `gatehouse run` who does not read holds up the writing, and nothing else."""
import os
import signal
import subprocess
import time
import unittest

from run_case import GRACE_S, RunCase, SANITIZED


def runs(marker):
    return subprocess.run(["pgrep", "-f", marker], capture_output=True, check=False).stdout != b""


def wait_for(what):
    start = time.monotonic()
    while not what():
        if time.monotonic() > start + GRACE_S:
            return False
        time.sleep(0.05)
    return True


class SlowReader(RunCase):
    def start(self, *given):
        """A run whose standard output is a full pipe soon: nobody reads it."""
        process = subprocess.Popen(self.argv(*given), env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def busy(self, marker):
        """Writes for ever; found by its marker."""
        return ["--", "sh", "-c", f"exec yes {marker}"]

    def marker(self, name):
        return f"{name}-{os.getpid()}-{time.monotonic_ns()}"

    def test_a_time_limit_waited_for_a_reader_that_does_not_read(self):
        marker = self.marker("limit")
        process = self.start("--timeout-ms", "700", *self.busy(marker))
        self.assertTrue(wait_for(lambda: runs(f"^yes {marker}")))
        self.assertTrue(wait_for(lambda: not runs(f"^yes {marker}")), "ended though nobody reads")
        self.assertIsNone(process.poll(), "what is left still waits for its reader")
        out, err = process.communicate(timeout=GRACE_S)
        self.assertEqual(process.returncode, 124, err)
        self.assertEqual(set(out.splitlines()[:-1]), {marker.encode()})
        self.assertIn(b"by the time limit of 700 ms", err)

    def test_sigterm_waited_for_a_reader_that_does_not_read(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number):
                marker = self.marker("signal")
                process = self.start("--timeout-ms", "300000", *self.busy(marker))
                self.assertTrue(wait_for(lambda m=marker: runs(f"^yes {m}")))
                time.sleep(0.3)  # the pipe fills; the outcome is the same when it has not
                process.send_signal(number)
                self.assertTrue(wait_for(lambda m=marker: not runs(f"^yes {m}")), "ended though nobody reads")
                process.communicate(timeout=GRACE_S)
                self.assertEqual(process.returncode, 120)

    def test_a_second_signal_gives_up_what_nobody_reads(self):
        marker = self.marker("second")
        process = self.start("--timeout-ms", "700", *self.busy(marker))
        self.assertTrue(wait_for(lambda: runs(f"^yes {marker}")))
        self.assertTrue(wait_for(lambda: not runs(f"^yes {marker}")))
        # A signal that comes before the command's end is known is not yet one about what is left.
        for _ in range(5):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(5)
                break
            except subprocess.TimeoutExpired:
                pass
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"what was not written is lost", process.stderr.read())

    def test_output_was_lost_or_out_of_order_for_a_slow_reader(self):
        process = self.start("--timeout-ms", "60000", "--", "seq", "1", "400000")
        read = b""
        for _ in range(4):
            time.sleep(0.2)
            read += os.read(process.stdout.fileno(), 5000)
        read += process.communicate(timeout=GRACE_S)[0]
        self.assertEqual(process.returncode, 0)
        self.assertEqual(read, b"".join(b"%d\n" % i for i in range(1, 400001)))

    def test_output_beyond_ten_thousand_pieces_was_not_shown(self):
        script = "import os\nfor i in range(12000):\n os.write(1, b'o'); os.write(2, b'e')"
        done = self.run_it("--timeout-ms", "60000", "--", "python3", "-c", script)
        self.assertEqual(done.stdout, b"o" * 12000)
        self.assertTrue(done.stderr.startswith(b"e" * 12000))

    @unittest.skipIf(SANITIZED, "measures memory")
    def test_a_command_outran_its_reader_in_memory(self):
        process = self.start("--timeout-ms", "300000", "--", "sh", "-c", "exec cat /dev/zero")
        with open(f"/proc/{process.pid}/status", encoding="ascii") as f:
            self.assertIn("VmRSS", f.read())
        time.sleep(1.5)  # unbounded it would hold gigabytes by now
        with open(f"/proc/{process.pid}/status", encoding="ascii") as f:
            peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
        self.assertLess(peak, 120_000)

    def test_a_reader_that_goes_away_ends_the_command(self):
        marker = self.marker("gone")
        process = self.start("--timeout-ms", "300000", *self.busy(marker))
        os.read(process.stdout.fileno(), 10)
        process.stdout.close()
        self.assertEqual(process.wait(GRACE_S), 120)
        self.assertFalse(runs(f"^yes {marker}"))


if __name__ == "__main__":
    unittest.main()
