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

    def load(self, *words):
        done = subprocess.run([GATEHOUSE, "load", "--json", "--cwd", self.ws, "--warm-up", "0.2", *words], env=self.env, capture_output=True,
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

    def test_a_mix_and_its_failures_by_kind(self):
        _, url = self.server("serve", "--profile", "workspace-write", "--ask", "never")
        mix = self.mix({"arguments": {"command": "exit 3"}}, {"arguments": {"command": "true"}, "weight": 2}, {"arguments": {"command": "rm -rf x"}})
        status, seen, said = self.load("--callers", "4", "--duration", "2", "--mix", mix, url)
        self.assertEqual(status, 1, said)
        self.assertEqual(set(seen["errors"]), {"exit status 3", "rejected"})
        self.assertGreater(seen["calls"], 0)

    def test_a_server_that_stalls_cannot_hide_it(self):
        process, url = self.server("serve", "--profile", "workspace-write")
        words = [GATEHOUSE, "load", "--json", "--cwd", self.ws, "--warm-up", "0", "--rate", "10", "--duration", "4", url]
        with subprocess.Popen(words, env=self.env, stdout=subprocess.PIPE, text=True) as running:
            time.sleep(1.5)  # the moment of the stall
            process.send_signal(signal.SIGSTOP)
            time.sleep(1.5)
            process.send_signal(signal.SIGCONT)
            seen = json.loads(running.communicate(timeout=60)[0])
        # All forty are there, those of the stall with the time that they waited.
        self.assertEqual(seen["calls"] + seen["failed"], 40)
        self.assertGreater(seen["latency_us"]["p90"], 500_000)
        self.assertGreater(seen["latency_us"]["max"], 1_200_000)

    def test_exec_dialect_over_several_connections(self):
        _, url = self.server("exec-server", "--listen", "ws://127.0.0.1:0")
        status, seen, said = self.load("--dialect", "exec", "--callers", "4", "--connections", "2", "--duration", "2", url)
        self.assertEqual((status, seen["failed"]), (0, 0), said)
        self.assertGreater(seen["calls"], 2)

    def test_bad_input_is_told(self):
        self.assertEqual(self.load("--rate", "0", "ws://127.0.0.1:1")[0], 2)
        self.assertEqual(self.load("--mix", self.mix({"no": 1}), "ws://127.0.0.1:1")[0], 2)
        self.assertEqual(self.load("http://127.0.0.1:1")[0], 2)
        status, seen, _ = self.load("ws://127.0.0.1:1")
        self.assertEqual(status, 1)
        self.assertIn("cannot connect", seen["broken"])


if __name__ == "__main__":
    unittest.main()
