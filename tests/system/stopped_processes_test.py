"""§99a, §D12: what stands still when the daemon is killed ends with it, too, and leaves nothing on the host."""
import json
import os
import signal
import subprocess
import time
import unittest

import exec_client
from daemon_case import DaemonCase
from run_case import BUILD, GATEHOUSE, GRACE_S

COMMAND = ["/bin/sh", "-c", "sleep 60000 & setsid sleep 60000 & wait"]
STATES_OF_THE_DEAD = ("Z", "X")  # whoever is process 1 here may be slow to take them


def stat(pid):
    """(name, state, start time), or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2:].split()
    return text[text.index("(") + 1:text.rindex(")")], fields[0], fields[19]


def below(pid):
    """All processes under it."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                for child in map(int, file.read().split()):
                    found += [child, *below(child)]
    except OSError:
        pass
    return found


def content(path):
    with open(path, encoding="ascii") as file:
        return file.read()


class StoppedProcesses(DaemonCase):
    def setUp(self):
        super().setUp()
        self.env["TMPDIR"] = self.base + "/tmp"
        os.mkdir(self.base + "/tmp")
        self.started = {}
        self.addCleanup(self.end_what_is_left)

    def alive(self):
        """Those of `started` that live: the same number may be another process by now."""
        now = {pid: stat(pid) for pid in self.started}
        return {pid: it for pid, it in now.items()
                if it and it[1] not in STATES_OF_THE_DEAD and it[2] == self.started[pid][2]}

    def end_what_is_left(self):
        for pid in self.alive():
            os.kill(pid, signal.SIGKILL)

    def until(self, condition):
        end = time.monotonic() + GRACE_S
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def begun(self, daemon, names):
        """Waits until these names stand below the daemon, which are all that a command is made of."""
        def seen():
            self.started = {pid: it for pid in below(daemon.pid) for it in [stat(pid)] if it}
            return sorted(it[0] for it in self.started.values()) == sorted(names)
        self.assertTrue(self.until(seen), self.started)

    def kill_while_stopped(self, daemon, victims):
        for pid, it in self.started.items():
            if it[0] in victims:
                os.kill(pid, signal.SIGSTOP)
                self.assertTrue(self.until(lambda pid=pid: stat(pid)[1] == "T"))
            self.assertEqual(content(f"/proc/{pid}/cgroup"), content("/proc/self/cgroup"))  # none of its own
        daemon.kill()
        daemon.wait()
        self.assertTrue(self.until(lambda: not self.alive()), f"left behind: {self.alive()}")
        self.assertEqual((os.listdir(self.base + "/tmp"), os.listdir(self.ws)), ([], []))
        self.assertNotIn(self.base, content("/proc/self/mountinfo"))

    def each(self, start, names):
        for victims in [*([name] for name in dict.fromkeys(names)), names]:
            with self.subTest(victims=victims):
                daemon = start()
                self.addCleanup(daemon.wait)
                self.addCleanup(daemon.kill)
                self.begun(daemon, names)
                self.kill_while_stopped(daemon, victims)

    def run_host(self, profile):
        return subprocess.Popen([GATEHOUSE, "run", "--profile", profile, "--", *COMMAND], cwd=self.ws, env=self.env, start_new_session=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_99a_a_stopped_part_of_a_boundary_ends_with_its_daemon(self):
        self.each(lambda: self.run_host("workspace-write"), ["gatehouse-sandb", "bwrap", "gatehouse-init", "sh", "sleep", "sleep"])

    def test_99a_a_stopped_part_ends_with_its_daemon_without_a_boundary(self):
        self.each(lambda: self.run_host("danger-full-access"), ["gatehouse-sandb", "gatehouse-init", "sh", "sleep", "sleep"])

    def test_99a_a_stopped_init_kept_a_command_of_landlock_alone_alive_without_its_daemon(self):
        """No daemon starts one, so that its helper is what is killed, as a daemon's death does."""
        profile = json.dumps(exec_client.sandbox(self.ws)["permissions"])
        helper = [os.path.join(BUILD, "gatehouse-sandbox"), "--use-legacy-landlock", "--sandbox-policy-cwd", self.ws, "--permission-profile", profile]
        self.each(lambda: subprocess.Popen([*helper, "--", *COMMAND], env=self.env, start_new_session=True, stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
                  ["gatehouse-init", "sh", "sleep", "sleep"])

    def test_99a_a_helper_and_a_bubblewrap_that_wait_stopped_for_a_command_end_with_their_daemon(self):
        def start():
            daemon, _ = self.serve()
            client = self.client(daemon)
            self.assertEqual(self.call(client, self.thread(client), "true")["status"], "completed")
            return daemon
        self.each(start, ["gatehouse-sandb", "bwrap"])


if __name__ == "__main__":
    unittest.main()
