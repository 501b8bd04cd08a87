"""What the tests of a real `gatehouse run` share: a workspace, a home and an environment of their own, and ways to start it."""
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BUILD = os.environ["GATEHOUSE_BUILD_DIR"]
GATEHOUSE = os.path.join(BUILD, "gatehouse")
SANITIZED = bool(os.environ.get("GATEHOUSE_SANITIZER"))  # then memory and descriptors are also the sanitizer's
GRACE_S = 240 if SANITIZED else 60  # bounds a step that hangs; no outcome depends on it
DANGEROUS = ["rm", "-rf", "no-such-thing"]  # proposed only on names that do not exist


def answer_at_terminal(argv, env, keys, cwd=None, before=b"", meanwhile=None):
    """Runs argv at a terminal of its own: writes `before` at once, then `keys` one after the other, each when a fresh
    prompt stands and `meanwhile` (may be None) has been called. Returns (what was shown, status)."""
    pid, terminal = pty.fork()
    if pid == 0:
        if cwd:
            os.chdir(cwd)
        os.execve(argv[0], argv, env)
    shown, answered, start = b"", 0, time.monotonic()
    if before:
        os.write(terminal, before)
    while time.monotonic() < start + GRACE_S:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
        while answered < len(keys) and shown.count(b"\n> ") > answered:
            if meanwhile:
                meanwhile()
            os.write(terminal, keys[answered])
            answered += 1
    else:
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    return shown.decode("utf-8", "replace"), status


class RunCase(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gatehouse-test-", dir="/var/tmp")
        self.ws, self.home = self.base + "/ws", self.base + "/home/.gatehouse"
        os.makedirs(self.ws)
        os.makedirs(self.base + "/home")
        self.env = {"HOME": self.base + "/home", "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
                    "TERM": "dumb", "SHELL": "/bin/bash"}

    def tearDown(self):
        shutil.rmtree(self.base, ignore_errors=True)

    def argv(self, *given):
        return [GATEHOUSE, "run", "--cwd", self.ws, "--profile", "workspace-write", *given]

    def run_it(self, *given, **more):
        return subprocess.run(self.argv(*given), **{"env": self.env, "stdin": subprocess.DEVNULL, "capture_output": True,
                                                    "timeout": GRACE_S, "check": False, **more})

    def document(self, *given):
        """The JSON document of a run, and its exit status."""
        done = self.run_it("--json", *given)
        return json.loads(done.stdout), done.returncode

    def write(self, name, text):
        """A file of the user's configuration."""
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def configure(self, text):
        self.write("config.toml", text)
