"""What an attack on the whole chain once got away with, each with its smallest input (§D5, §D12, §D14, §63, §97, §99a)."""
import json
import os
import signal
import subprocess
import time
import unittest

from run_case import GATEHOUSE, GRACE_S, RunCase


class AttackTest(RunCase):
    def setUp(self):
        super().setUp()
        self.env |= {"GATEHOUSE_HOME": self.base + "/gatehouse", "XDG_STATE_HOME": self.base + "/state"}

    def run_it(self, *given, **more):
        return super().run_it(*given, **{"cwd": self.ws, "text": True, **more})

    def test_a_nested_repository_cannot_be_exchanged_for_a_doctored_copy(self):
        subprocess.run(["git", "init", "-q", self.ws + "/sub"], env=self.env, check=True)
        done = self.run_it("--shell", "cp -a sub evil && echo x > evil/.git/hooks/pre-commit && mv sub old && "
                           "mv evil sub")
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(os.path.exists(self.ws + "/sub/.git/hooks/pre-commit"))

    def test_a_rule_that_keeps_the_sandbox_does_not_swallow_a_wider_request(self):
        with open(self.base + "/k.rules", "w", encoding="utf-8") as rules:
            rules.write('prefix_rule(pattern=["touch"], decision="allow", sandbox="keep")\n')
        done = self.run_it("--json", "--rules", self.base + "/k.rules", "--sandbox-permissions", "require_escalated",
                           "--justification", "x", "--", "touch", self.base + "/made")
        document = json.loads(done.stdout)
        self.assertEqual(document["decision"]["requirement"]["kind"], "needs_approval")
        self.assertEqual(document["attempts"], [])

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(self.argv("--", "echo", "hello"), env=self.env, stdin=subprocess.DEVNULL,
                                  stdout=full, stderr=subprocess.PIPE, timeout=GRACE_S, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot be written", done.stderr)

    def test_a_boundary_that_is_killed_around_a_running_command_is_not_called_never_started(self):
        host = subprocess.Popen(self.argv("--json", "--", "sh", "-c", "touch up; sleep 60"), env=self.env, cwd=self.ws,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        end = time.monotonic() + GRACE_S
        while not os.path.exists(self.ws + "/up"):
            self.assertLess(time.monotonic(), end)
        helper = subprocess.run(["pgrep", "-P", str(host.pid)], stdout=subprocess.PIPE, check=True).stdout.split()[0]
        os.kill(int(helper), signal.SIGKILL)
        document = json.loads(host.communicate(timeout=GRACE_S)[0])
        self.assertEqual(document["exit_status"], 137)

    def test_a_socket_cannot_take_a_protected_name(self):
        done = subprocess.run([GATEHOUSE, "sandbox", "--profile", "workspace-write", "--cwd", self.ws, "--net", "--",
                               "python3", "-c", "import socket; socket.socket(socket.AF_UNIX).bind('.git')"],
                              env=self.env, capture_output=True, timeout=GRACE_S, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(os.listdir(self.ws), [])


if __name__ == "__main__":
    unittest.main()
