"""Stage 10, clocks that jump: the wall clock is set forward or back under a running daemon (tests/support/wall_clock.c), and the other clocks are far
from zero (a time namespace). Time limits, sessions, approvals and the audit go by time that passes, never by the date."""
import datetime
import os
import subprocess
import time
import unittest

import exec_client
from daemon_case import DaemonCase, process_count
from run_case import BUILD, GRACE_S, SANITIZED

LIBRARY = os.path.join(BUILD, "libtest_wall_clock.so")
DAY_S = 86400
JUMPS = (400, -400)  # days
NO_LIBRARY = '[environment]\nexclude = ["LD_PRELOAD"]\n'  # of commands


def has_time_namespaces():
    return subprocess.run(["unshare", "--time", "--fork", "--monotonic", "1000", "true"], capture_output=True, check=False).returncode == 0


class ClockFaults(DaemonCase):
    def setUp(self):
        super().setUp()
        self.clock = self.base + "/clock"
        self.set_clock(0)
        self.moved = dict(self.env, LD_PRELOAD=LIBRARY, WALL_CLOCK_OFFSET=self.clock)

    def set_clock(self, days):
        """From now: the date alone, while what measures how long something takes goes on."""
        with open(self.clock + ".new", "w", encoding="ascii") as file:
            file.write(str(days * DAY_S))
        os.rename(self.clock + ".new", self.clock)

    def days(self, entries):
        """Of each entry: how many days it is from now."""
        now = datetime.datetime.now(datetime.timezone.utc)
        return [round((datetime.datetime.fromisoformat(entry["time"].replace("Z", "+00:00")) - now).total_seconds() / DAY_S) for entry in entries]

    @unittest.skipIf(SANITIZED, "a sanitizer must be loaded before every other library")
    def test_205_a_date_that_jumps_ends_no_call_no_session_and_no_approval(self):
        self.configure(NO_LIBRARY + "[terminals]\nidle_limit_ms = 1500\n")
        for jump in JUMPS:
            with self.subTest(jump=jump):
                self.set_clock(0)
                daemon, _ = self.serve("--ask", "untrusted", env=self.moved)
                agent, reviewer = self.client(daemon), self.client(daemon, "reviewer", gatehouse={"approvals": True})
                thread = self.thread(agent)

                def ask(number, command):
                    agent.send({"id": 100 + number, "method": "tool/call",
                                "params": {"threadId": thread, "callId": f"c{number}", "tool": "shell_command", "arguments": command}})
                asked = {"command": "mkdir -p one"}
                ask(1, asked)
                while not (question := reviewer.receive()).get("method", "").endswith("requestApproval"):
                    pass
                reviewer.send({"id": question["id"], "result": {"decision": "acceptForSession"}})
                while (told := agent.receive()).get("id") != 101:
                    pass
                self.assertEqual(told["result"]["status"], "completed")
                # A call and a session across the jump.
                session = agent.call("tool/call", GRACE_S, threadId=thread, callId="s", tool="exec_command",
                                     arguments={"cmd": "cat", "tty": True, "yield_time_ms": 250})
                session = session["result"]
                self.assertIn("sessionId", session)
                ask(2, dict(asked, timeout_ms=30_000))
                self.set_clock(jump)
                while (told := agent.receive()).get("id") != 102:
                    pass
                self.assertEqual(told["result"]["status"], "completed")
                # The approval holds: nobody answers any more. What has a limit reaches it.
                self.assertEqual(self.call(agent, thread, "mkdir -p one")["status"], "completed")
                limited = self.call(agent, thread, "cat /dev/zero | tail", timeout_ms=400)
                self.assertEqual(limited["status"], "timedOut", limited)
                # The wait of a poll ends with the session, which has said nothing for too long.
                poll = agent.call("tool/call", GRACE_S, threadId=thread, callId="p", tool="write_stdin",
                                  arguments={"session_id": session["sessionId"], "chars": "", "yield_time_ms": 30_000})["result"]
                self.assertNotIn("sessionId", poll)
                for client in (agent, reviewer):
                    client.drop()
                daemon.terminate()
                self.assertEqual(daemon.wait(GRACE_S), 0)

    @unittest.skipIf(SANITIZED, "a sanitizer must be loaded before every other library")
    def test_205_a_date_that_jumps_leaves_the_audit_in_its_order_and_whole(self):
        self.configure(NO_LIBRARY + "[audit]\nkeep_days = 1000\n")
        calls, days = 0, []
        for jump in (0, *JUMPS, 0):
            self.set_clock(0)
            daemon, _ = self.serve(env=self.moved)
            self.set_clock(jump)
            client = self.client(daemon)
            thread = self.thread(client)
            for _ in range(3):
                self.assertEqual(self.call(client, thread, "true")["status"], "completed")
                calls += 1
            client.drop()
            daemon.terminate()
            self.assertEqual(daemon.wait(GRACE_S), 0)
            days.append(jump)
            entries = self.audit()
            self.assertEqual([entry["seq"] for entry in entries], list(range(1, len(entries) + 1)))
            self.assertEqual(sum(entry["kind"] == "end" for entry in entries), calls, jump)
            seen = self.days(entries)
            self.assertEqual([day for n, day in enumerate(seen) if n == 0 or seen[n - 1] != day], days)

    @unittest.skipIf(SANITIZED, "a sanitizer must be loaded before every other library")
    def test_120_a_session_of_the_exec_server_lives_by_time_that_passes(self):
        for jump in JUMPS:
            with self.subTest(jump=jump):
                self.set_clock(0)
                with exec_client.Server("--no-auth", "--session-ttl-ms", "1500", cwd=self.ws, env=self.moved) as server:
                    client = exec_client.Client(server)
                    began = client.start_session()["result"]
                    client.call("process/start", **exec_client.start("p", ["/bin/sh", "-c", f"sleep 600 # {self.base}"], self.ws))
                    client.drop()
                    self.set_clock(jump)
                    client = exec_client.Client(server)
                    self.assertIn("result", client.start_session(resume=began["sessionId"]), "the session has ended too soon")
                    self.assertGreater(process_count(self.base + "\0"), 0)
                    client.drop()
                    deadline = time.monotonic() + GRACE_S
                    while process_count(self.base + "\0") and time.monotonic() < deadline:
                        time.sleep(0.05)
                    self.assertEqual(process_count(self.base + "\0"), 0, "it never ends")

    @unittest.skipUnless(has_time_namespaces(), "needs a time namespace of its own")
    def test_a_machine_that_has_been_up_for_years_keeps_its_limits(self):
        for years in (1, 60):
            with self.subTest(years=years):
                offset = str(years * 365 * DAY_S)
                daemon, _ = self.serve(inside=["unshare", "--time", "--fork", "--kill-child", "--monotonic", offset, "--boottime", offset])
                client = self.client(daemon)
                thread = self.thread(client)
                self.assertEqual(self.call(client, thread, "echo on", timeout_ms=30_000)["output"], "on\n")
                self.assertEqual(self.call(client, thread, "sleep 600", timeout_ms=300)["status"], "timedOut")
                daemon.kill()
                daemon.wait()
        self.assertEqual(sum(entry["kind"] == "end" for entry in self.audit()), 4)


if __name__ == "__main__":
    unittest.main(verbosity=2)
