"""§75 §68 On a host that cannot build the boundary nothing runs, and the error says what to install or set.

Each host is made for the test: namespaces of our own in which bubblewrap or user namespaces are missing.
"""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from without_call import without_call
from run_case import GRACE_S

BUILD = os.environ["GATEHOUSE_BUILD_DIR"]
GATEHOUSE = os.path.join(BUILD, "gatehouse")
NO_BUBBLEWRAP = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                 'for b in /usr/bin/bwrap /bin/bwrap /usr/local/bin/bwrap; do '
                 '[ ! -e "$b" ] || mount --bind /dev/null "$b" 2>/dev/null || :; done; exec "$@"', "sh"]
# The limit of a user namespace counts for what is created inside it; the host's own stays as it is.
NO_USER_NAMESPACES = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                      'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh"]

def in_own_mounts(prepare):
    return ["unshare", "--mount", "--propagation", "private", "sh", "-ec", prepare + '; exec "$@"', "sh"]


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
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=GRACE_S, check=False,
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

    def test_without_supervised_filters(self):
        set_mode_filter = 1
        self.refuse(without_call("seccomp", set_mode_filter, 22), ["sandbox"], ["system call filter", "doctor"])
        self.refuse(without_call("seccomp"), ["sandbox"], ["system call filter"])

    def test_br_102_without_landlock_the_mounts_hold_and_the_landlock_backend_refuses(self):
        host = without_call("landlock_create_ruleset")
        self.refuse(host, ["sandbox", "--backend", "landlock"], ["landlock"])
        outside = self.folder + "-outside"
        done = subprocess.run([*host, GATEHOUSE, "sandbox", "--profile", "workspace-write", "--cwd", self.folder, "--",
                               "sh", "-c", f"echo ran; touch {outside}"], capture_output=True, text=True, timeout=GRACE_S,
                              check=False, env={**os.environ, "HOME": self.folder}, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout, os.path.exists(outside)), (1, "ran\n", False), done.stderr)

    def test_br_102_the_doctor_says_which_landlock_there_is(self):
        for host, words in ((without_call("landlock_create_ruleset"), r"warning +landlock .*"), ([], r"ok +landlock +.*ABI \d")):
            done = subprocess.run([*host, GATEHOUSE, "doctor"], capture_output=True, text=True, timeout=GRACE_S, check=False,
                                  stdin=subprocess.DEVNULL)
            self.assertRegex(done.stdout, words)

    def test_where_no_proc_can_be_mounted(self):
        self.refuse(in_own_mounts("mount -t tmpfs t /proc/tty"), ["sandbox"], ["/proc"])

    def test_where_a_mount_fails(self):
        os.makedirs(self.folder + "/locked/inside")
        os.chown(self.folder + "/locked", 12345, 12345)
        os.chmod(self.folder + "/locked", 0o700)
        self.refuse([], ["sandbox", "--allow-write", self.folder + "/locked/inside"], ["locked"])

    def test_where_more_matches_are_denied_than_can_be_mounted(self):
        os.mkdir(self.folder + "/many")
        for number in range(2001):
            with open(f"{self.folder}/many/{number}.env", "w", encoding="ascii"):
                pass
        self.refuse([], ["sandbox", "--deny-read", self.folder + "/many/*.env"], ["*.env", "2000", "narrow"])

    def test_where_fewer_files_may_be_open_than_are_denied(self):
        os.mkdir(self.folder + "/many")
        for number in range(100):
            with open(f"{self.folder}/many/{number}.env", "w", encoding="ascii"):
                pass
        limit = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"]
        command = [GATEHOUSE, "sandbox", "--deny-read", self.folder + "/many/*.env", "--profile", "workspace-write",
                   "--cwd", self.folder, "--", "cat", "many/0.env", "many/99.env"]
        done = subprocess.run([*limit, *command], capture_output=True, text=True, timeout=GRACE_S, check=False,
                              env={**os.environ, "HOME": self.folder}, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stderr.count("Permission denied")), (1, 2), done.stderr)
        # Bubblewrap alone needs a descriptor for each.
        self.refuse([*without_call("move_mount"), *limit], ["sandbox", "--deny-read", self.folder + "/many/*.env"], ["100 files", "ulimit -n"])


if __name__ == "__main__":
    unittest.main()
