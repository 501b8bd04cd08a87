"""What the tests of the boundary share: the helper program, profiles, and a case with a workspace of its own."""
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest

from run_case import GRACE_S

HELPER = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse-sandbox")


def special(kind, access):
    return {"path": {"type": "special", "value": {"kind": kind}}, "access": access}


def managed(entries, network="restricted"):
    return {"type": "managed", "file_system": {"type": "restricted", "entries": entries}, "network": network}


READ_ONLY = managed([special("root", "read")])
WORKSPACE = managed([special("root", "read"), special("project_roots", "write")])
WORKSPACE_NET = managed([special("root", "read"), special("project_roots", "write")], "enabled")
DISABLED = {"type": "disabled"}


def running(marker):
    """Processes whose command line holds `marker`."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if marker.encode() in file.read() and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def until(condition):
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


class BoundaryCase(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gatehouse-test-", dir="/var/tmp")
        self.ws = os.path.join(self.base, "ws")
        self.out = os.path.join(self.base, "out")
        os.mkdir(self.ws)
        os.mkdir(self.out)
        self.marker = "60000." + str(os.getpid()) + str(time.monotonic_ns())[-6:]

    def tearDown(self):
        # More than one look: while a process changes its program it shows no words, and is not seen.
        self.assertTrue(until(lambda: not running(self.marker)), f"left behind: {running(self.marker)}")
        shutil.rmtree(self.base)

    def argv(self, command, profile=WORKSPACE, report=None):
        argv = [HELPER, "--sandbox-policy-cwd", self.ws, "--permission-profile", json.dumps(profile)]
        if report is not None:
            argv += ["--report-fd", str(report)]
        return argv + ["--", *command]

    def run_it(self, command, profile=WORKSPACE, **how):
        """(status, stdout, stderr, events)"""
        if isinstance(command, str):
            command = ["/bin/bash", "-c", command]
        with tempfile.TemporaryFile() as report:
            how.setdefault("stdin", subprocess.DEVNULL)
            how.setdefault("stdout", subprocess.PIPE)
            fds = (report.fileno(), *how.pop("pass_fds", ()))
            done = subprocess.run(self.argv(command, profile, report.fileno()), stderr=subprocess.PIPE, timeout=GRACE_S,
                                  check=False, text=True, pass_fds=fds, **how)
            report.seek(0)
            events = [json.loads(line) for line in report]
        return done.returncode, done.stdout, done.stderr, events

    def blocked(self, events):
        return [e for e in events if e["event"] == "blocked"]
