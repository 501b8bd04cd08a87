"""§75 §68 On a host that cannot build the boundary nothing runs, and the error says what to install or set.

Each host is made for the test: namespaces of our own in which bubblewrap or user namespaces are missing.
"""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ["GATEHOUSE_BUILD_DIR"]
GATEHOUSE = os.path.join(BUILD, "gatehouse")
NO_BUBBLEWRAP = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                 'for b in /usr/bin/bwrap /bin/bwrap /usr/local/bin/bwrap; do '
                 '[ ! -e "$b" ] || mount --bind /dev/null "$b" 2>/dev/null || :; done; exec "$@"', "sh"]
# The limit of a user namespace counts for what is created inside it; the host's own stays as it is.
NO_USER_NAMESPACES = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                      'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh"]


@unittest.skipUnless(os.geteuid() == 0, "making such a host needs root")
class NothingRunsWithoutABoundary(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gatehouse-test-", dir="/var/tmp")
        self.marker = os.path.join(self.folder, "ran")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def refuse(self, host, arguments, words):
        command = [*host, GATEHOUSE, *arguments, "--profile", "workspace-write", "--cwd", self.folder, "--",
                   "touch", self.marker]
        env = {**os.environ, "HOME": self.folder, "GATEHOUSE_HOME": self.folder + "/home"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 121, done.stdout + done.stderr)
        self.assertFalse(os.path.exists(self.marker), "the command ran without its boundary")
        for word in words:
            self.assertIn(word, done.stdout + done.stderr)
        return done

    def test_sandbox_without_bubblewrap(self):
        self.refuse(NO_BUBBLEWRAP, ["sandbox"], ["bubblewrap", "apt-get install bubblewrap"])

    def test_run_without_bubblewrap(self):
        self.refuse(NO_BUBBLEWRAP, ["run"], ["bubblewrap", "apt-get install bubblewrap"])

    def test_run_without_bubblewrap_as_json(self):
        done = self.refuse(NO_BUBBLEWRAP, ["run", "--json"], ["bubblewrap"])
        self.assertEqual(json.loads(done.stdout)["exit_status"], 121)

    def test_sandbox_without_user_namespaces(self):
        self.refuse(NO_USER_NAMESPACES, ["sandbox"], ["user namespaces", "max_user_namespaces"])

    def test_run_without_user_namespaces(self):
        self.refuse(NO_USER_NAMESPACES, ["run"], ["user namespaces", "max_user_namespaces"])


if __name__ == "__main__":
    unittest.main()
