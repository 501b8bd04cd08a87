"""BR-074 What WSL's interop needs is out of reach in every boundary: its variable, its sockets, its address family."""
import json
import os
import shutil
import socket
import subprocess
import tempfile
import unittest

from run_case import GRACE_S

HELPER = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse-sandbox")
PROFILE = {"type": "managed", "network": "enabled", "file_system": {"type": "restricted", "entries": [
    {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
    {"path": {"type": "special", "value": {"kind": "project_roots"}}, "access": "write"}]}}


class Interop(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gatehouse-wsl-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, self.base)
        # Stands for /run/WSL/1_interop, which only WSL has.
        self.interop = os.path.join(self.base, "1_interop")
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(self.interop)
        listener.listen()

    def inside(self, code, *options):
        return subprocess.run([HELPER, "--sandbox-policy-cwd", self.base, "--permission-profile", json.dumps(PROFILE),
                               *options, "--", "python3", "-c", code], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=GRACE_S, env={**os.environ, "WSL_INTEROP": self.interop})

    def test_interop_is_out_of_reach(self):
        for options in ((), ("--use-legacy-landlock",)):
            with self.subTest(options=options):
                self.assertEqual(self.inside("import os; print('WSL_INTEROP' in os.environ)", *options).stdout, "False\n")
                refused = self.inside(f"import socket; socket.socket(socket.AF_UNIX).connect({self.interop!r})", *options)
                self.assertIn("PermissionError", refused.stderr)
                vsock = self.inside("import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)", *options)
                self.assertIn("PermissionError", vsock.stderr)


if __name__ == "__main__":
    unittest.main()
