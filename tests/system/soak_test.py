#!/usr/bin/env python3
"""Under load nothing grows: memory, descriptors, children, temporary files (§203). GATEHOUSE_SOAK_SECONDS: how long, 60 in
the tests of every change, 1,800 in the second tier."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

GATEHOUSE = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")
SECONDS = float(os.environ.get("GATEHOUSE_SOAK_SECONDS", "60"))


def mean(points, field):
    return sum(p[field] for p in points) / len(points)


class Soak(unittest.TestCase):
    def soak(self, words, dialect):
        base = tempfile.mkdtemp(prefix="gatehouse-soak-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, base, True)
        ws, tmp = base + "/ws", base + "/tmp"
        os.mkdir(ws)
        os.mkdir(tmp)
        env = dict(os.environ, HOME=base, GATEHOUSE_HOME=base + "/home", XDG_STATE_HOME=base + "/state", TMPDIR=tmp)
        options = []
        if dialect == "app":
            mix = base + "/mix.jsonl"
            with open(mix, "w", encoding="ascii") as file:
                for line in ({"arguments": {"command": "true"}, "weight": 6}, {"arguments": {"command": "seq 2000"}, "weight": 2},
                             {"arguments": {"command": "sleep 0.05 & wait"}, "weight": 1}):
                    file.write(json.dumps(line) + "\n")
            options = ["--mix", mix]
        server = subprocess.Popen([GATEHOUSE, *words], cwd=ws, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url = server.stdout.readline().strip()
            load = [GATEHOUSE, "load", "--json", "--dialect", dialect, "--cwd", ws, "--callers", "4", "--warm-up", str(SECONDS / 8),
                    "--duration", str(SECONDS * 3 / 8), "--pid", str(server.pid), *options, url]
            done = subprocess.run(load, env=env, capture_output=True, text=True, timeout=SECONDS + 300, check=False)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)
            seen = json.loads(done.stdout)
            points = [p for p in seen["over_time"] if p["s"] >= 0]
            early, late = points[:max(1, len(points) // 4)], points[-max(1, len(points) // 4):]
            print(f"{dialect}: {seen['calls']} calls, memory {mean(early, 'memory_kib'):.0f} to {mean(late, 'memory_kib'):.0f} KiB, "
                  f"descriptors {mean(early, 'descriptors'):.1f} to {mean(late, 'descriptors'):.1f}")
            self.assertLess(mean(late, "memory_kib"), mean(early, "memory_kib") * 1.1 + 4096)
            self.assertLess(mean(late, "descriptors"), mean(early, "descriptors") + 20)
            last = seen["over_time"][-1]  # after everything has ended
            # In serve one helper waits for the next command, for ten seconds.
            self.assertLessEqual(last["children"], 1 if dialect == "app" else 0)
            self.assertEqual(os.listdir(tmp), [])
        finally:
            server.terminate()
            self.assertEqual(server.wait(60), 0)
            server.stdout.close()

    def test_203_serve_does_not_grow(self):
        self.soak(["serve", "--profile", "workspace-write"], "app")

    def test_203_exec_server_does_not_grow(self):
        self.soak(["exec-server", "--listen", "ws://127.0.0.1:0"], "exec")


if __name__ == "__main__":
    unittest.main()
