"""What the tests of a real `gatehouse run` share: a workspace, a home and an environment of their own, and ways to start it."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ["GATEHOUSE_BUILD_DIR"]
GATEHOUSE = os.path.join(BUILD, "gatehouse")
GRACE_S = 60  # bounds a step that hangs; no outcome depends on it
DANGEROUS = ["rm", "-rf", "no-such-thing"]  # proposed only on names that do not exist


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
