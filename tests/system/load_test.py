#!/usr/bin/env python3
"""`gatehouse load` (§203) against the real servers."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

GATEHOUSE = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")


class Load(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gatehouse-load-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, self.base, True)
        self.ws = os.path.join(self.base, "ws")
        os.mkdir(self.ws)
        self.env = dict(os.environ, HOME=self.base, GATEHOUSE_HOME=self.base + "/home", XDG_STATE_HOME=self.base + "/state")

    def server(self, *words):
        process = subprocess.Popen([GATEHOUSE, *words], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=self.ws)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return process, process.stdout.readline().strip()

    def load(self, *words, warm_up="0.2"):
        done = subprocess.run([GATEHOUSE, "load", "--json", "--cwd", self.ws, "--warm-up", warm_up, *words], env=self.env, capture_output=True,
                              text=True, timeout=120, check=False)
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr

    def mix(self, *lines):
        path = self.base + "/mix.jsonl"
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        return path

    def test_closed_loop_against_serve_with_the_server_watched_and_a_page(self):
        process, url = self.server("serve", "--profile", "workspace-write")
        page = self.base + "/report.html"
        status, seen, said = self.load("--callers", "2", "--duration", "2", "--pid", str(process.pid), "--html", page, url)
        self.assertEqual((status, seen["failed"]), (0, 0), said)
        self.assertGreater(seen["calls"], 2)
        self.assertGreater(seen["latency_us"]["p50"], 500)
        self.assertLessEqual(seen["latency_us"]["p50"], seen["latency_us"]["max"])
        self.assertEqual(sum(n for _, n in seen["histogram_us"]), seen["calls"])
        self.assertGreater(seen["over_time"][-1]["memory_kib"], 1000)
        self.assertGreater(seen["over_time"][-1]["descriptors"], 3)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertGreaterEqual(text.count("<svg"), 5)
        for outside in ("http://", "https://", "src=", "href=", "<script"):
            self.assertNotIn(outside, text)

    def test_a_server_that_wanted_another_token_was_said_not_to_be_there(self):
        _, url = self.server("exec-server", "--no-auth")
        token, empty = self.base + "/token", self.base + "/empty"
        for path, text in ((token, "another"), (empty, "")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        status, seen, said = self.load("--dialect", "exec", "--token-file", token, "--duration", "1", url)
        self.assertEqual((status, list(seen)), (1, ["failure", "exit_status"]), said)
        self.assertIn("--token-file", seen["failure"]["remedy"])
        status, seen, said = self.load("--dialect", "exec", "--token-file", empty, "--duration", "1", url)
        self.assertEqual((status, seen["failed"]), (0, 0), said)

    def test_a_mix_and_its_failures_by_kind(self):
        _, url = self.server("serve", "--profile", "workspace-write", "--ask", "never")
        mix = self.mix({"arguments": {"command": "exit 3"}}, {"arguments": {"command": "true"}, "weight": 2}, {"arguments": {"command": "rm -rf x"}})
        status, seen, said = self.load("--callers", "4", "--duration", "2", "--mix", mix, url)
        self.assertEqual(status, 1, said)
        self.assertEqual(set(seen["errors"]), {"exit status 3", "rejected"})
        self.assertGreater(seen["calls"], 0)

    def test_a_server_that_stalls_cannot_hide_it(self):
        process, url = self.server("serve", "--profile", "workspace-write")
        mix = self.mix({"arguments": {"command": ": > began"}})
        words = [GATEHOUSE, "load", "--json", "--cwd", self.ws, "--warm-up", "0", "--rate", "10", "--duration", "4", "--mix", mix, url]
        with subprocess.Popen(words, env=self.env, stdout=subprocess.PIPE, text=True) as running:
            while not os.path.exists(self.ws + "/began") and running.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGSTOP)
            time.sleep(1.5)  # the stall
            process.send_signal(signal.SIGCONT)
            seen = json.loads(running.communicate(timeout=100)[0])
        # All forty are there, those of the stall with the time that they waited.
        self.assertEqual(seen["calls"] + seen["failed"], 40)
        self.assertGreater(seen["latency_us"]["max"], 1_200_000)

    def test_calls_that_were_due_and_never_began_were_not_counted(self):
        process, url = self.server("serve", "--profile", "workspace-write")
        mix = self.mix({"arguments": {"command": ": > began"}})
        words = [GATEHOUSE, "load", "--json", "--cwd", self.ws, "--warm-up", "0", "--rate", "20000", "--duration", "60", "--mix", mix, url]
        with subprocess.Popen(words, env=self.env, stdout=subprocess.PIPE, text=True) as running:
            while not os.path.exists(self.ws + "/began") and running.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGSTOP)
            time.sleep(1)  # 20,000 fall due, of which 4,096 may be under way
            process.kill()
            seen = json.loads(running.communicate(timeout=100)[0])
        self.assertIn("broken", seen)
        self.assertGreater(seen["errors"]["never begun"], 0)
        shortest = seen["seconds"] - 0.0005  # it is rounded to milliseconds, in each of which 20 fall due
        self.assertGreaterEqual(seen["calls"] + seen["failed"], int(20000 * shortest) - 1)

    def test_exec_dialect_over_several_connections(self):
        _, url = self.server("exec-server", "--listen", "ws://127.0.0.1:0")
        status, seen, said = self.load("--dialect", "exec", "--callers", "4", "--connections", "2", "--duration", "2", url)
        self.assertEqual((status, seen["failed"]), (0, 0), said)
        self.assertGreater(seen["calls"], 2)

    def test_203_the_warm_up_is_not_counted_and_the_rate_is_kept(self):
        process, url = self.server("serve", "--profile", "workspace-write")
        status, seen, said = self.load("--rate", "10", "--duration", "2", "--pid", str(process.pid), url, warm_up="1")
        self.assertEqual((status, seen["calls"] + seen["failed"], seen["loop"], seen["rate"]), (0, 20, "open", 10), said)
        self.assertLess(seen["over_time"][0]["s"], 0)
        self.assertEqual(seen["over_time"][0]["calls"], 0)
        times = [point["s"] for point in seen["over_time"]]
        self.assertEqual(times, sorted(times))
        for field in ("memory_kib", "descriptors", "children", "cpu_ms", "under_way"):
            self.assertTrue(all(field in point for point in seen["over_time"]), field)

    def test_203_the_summary_names_what_was_measured(self):
        process, url = self.server("serve", "--profile", "workspace-write")
        mix = self.mix({"arguments": {"command": "exit 3"}})  # the first call counts, however slow the machine is
        done = subprocess.run([GATEHOUSE, "load", "--cwd", self.ws, "--warm-up", "0", "--duration", "1", "--mix", mix, "--pid", str(process.pid), url],
                              env=self.env, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        for part in ("closed loop, 1 callers, 1 connection, 1.0 s after 0.0 s of warm-up", "calls    ", "× exit status 3", "p50 ", "p90 ", "p99 ", "p99.9 ",
                     "max ", "server   memory ", "descriptors ", "µs a call"):
            self.assertIn(part, done.stdout)

    def test_203_a_server_that_goes_away_is_told_and_its_calls_are_no_small_latencies(self):
        process, url = self.server("serve", "--profile", "workspace-write")
        mix = self.mix({"arguments": {"command": ": > began; sleep 30"}})
        page = self.base + "/report.html"
        words = [GATEHOUSE, "load", "--json", "--cwd", self.ws, "--warm-up", "0", "--callers", "3", "--duration", "20", "--mix", mix, "--html", page, url]
        with subprocess.Popen(words, env=self.env, stdout=subprocess.PIPE, text=True) as running:
            while not os.path.exists(self.ws + "/began") and running.poll() is None:
                time.sleep(0.01)
            process.kill()
            seen = json.loads(running.communicate(timeout=100)[0])
        self.assertEqual((running.returncode, seen["calls"], seen["failed"], seen["errors"]), (1, 0, 3, {"no answer": 3}))
        self.assertTrue(seen["broken"])
        with open(page, encoding="utf-8") as file:
            self.assertIn("ended early", file.read())

    def test_203_ctrl_c_ends_it_with_what_was_measured(self):
        _, url = self.server("serve", "--profile", "workspace-write")
        mix = self.mix({"arguments": {"command": ": > began"}})
        words = [GATEHOUSE, "load", "--json", "--cwd", self.ws, "--warm-up", "0", "--duration", "60", "--mix", mix, url]
        with subprocess.Popen(words, env=self.env, stdout=subprocess.PIPE, text=True) as running:
            while not os.path.exists(self.ws + "/began") and running.poll() is None:
                time.sleep(0.01)
            time.sleep(0.5)  # so that some calls are measured
            running.send_signal(signal.SIGINT)
            seen = json.loads(running.communicate(timeout=100)[0])
        self.assertGreater(seen["calls"], 0)
        self.assertLess(seen["seconds"], 50)

    def test_203_a_page_that_could_not_be_written_took_the_figures_with_it(self):
        _, url = self.server("serve", "--profile", "workspace-write")
        status, seen, said = self.load("--duration", "0.3", "--html", self.base + "/no/folder.html", url)
        self.assertEqual(status, 1)
        self.assertIn("latency_us", seen)
        self.assertIn("cannot write", said)

    def test_bad_input_is_told(self):
        self.assertEqual(self.load("--rate", "0", "ws://127.0.0.1:1")[0], 2)
        self.assertEqual(self.load("--mix", self.mix({"no": 1}), "ws://127.0.0.1:1")[0], 2)
        self.assertEqual(self.load("http://127.0.0.1:1")[0], 2)
        status, seen, _ = self.load("ws://127.0.0.1:1")
        self.assertEqual(status, 1)
        self.assertEqual((seen["failure"]["kind"], seen["exit_status"], "latency_us" in seen), ("io", 1, False))
        self.assertIn("cannot connect", seen["failure"]["message"])

    def test_a_server_that_is_not_there_was_told_below_a_table_of_zeros(self):
        done = subprocess.run([GATEHOUSE, "load", "ws://127.0.0.1:1"], env=self.env, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("gatehouse: ws://127.0.0.1:1: cannot connect", done.stderr)
        self.assertIn("next: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
