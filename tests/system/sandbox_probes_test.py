"""§75 §81 §82 §D12 Every recorded probe against the built programs on this kernel, as root and as an ordinary user."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["GATEHOUSE_BUILD_DIR"]
CASES = os.path.join(os.environ["GATEHOUSE_SOURCE_DIR"], "tests", "cases")
ORDINARY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


class Probes(unittest.TestCase):
    def setUp(self):
        # A copy that an ordinary user can reach, whatever the modes of the build folder.
        self.folder = tempfile.mkdtemp(prefix="gatehouse-test-", dir="/var/tmp")
        os.chmod(self.folder, 0o755)
        for name in ("gatehouse", "gatehouse-sandbox", "gatehouse-sandbox-init"):
            shutil.copy(os.path.join(BUILD, name), self.folder)
        for name in ("sandbox_probes.py", "sandbox_probes.jsonl", "sandbox_probe.c"):
            shutil.copy(os.path.join(CASES, name), self.folder)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def probe(self, become):
        python = "/usr/bin/python3" if become else sys.executable
        done = subprocess.run(
            [*become, python, "-B", os.path.join(self.folder, "sandbox_probes.py"),
             os.path.join(self.folder, "gatehouse"), os.path.join(self.folder, "sandbox_probes.jsonl"), "-v"],
            capture_output=True, text=True, timeout=280, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_as_the_user_of_the_tests(self):
        self.probe([])

    @unittest.skipUnless(os.geteuid() == 0, "becoming somebody else needs root")
    def test_as_an_ordinary_user(self):
        self.probe(ORDINARY)


if __name__ == "__main__":
    unittest.main()
