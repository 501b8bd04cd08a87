"""Stage 10, what a daemon lacks while it serves: room on its disks, descriptors, processes, memory. Nothing runs without its boundary
or its entry in the audit, the answer names the cause, and the daemon serves on when the lack is over."""
import contextlib
import json
import os
import resource
import sqlite3
import subprocess
import time
import unittest

import exec_client
from daemon_case import DaemonCase, limited
from run_case import GATEHOUSE, GRACE_S, SANITIZED

ROOT = os.getuid() == 0
USER = 64998  # has no other processes that count against its limit


def can_mount():
    return ROOT and subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False).returncode == 0


class MemoryGroup:
    """A cgroup with a limit of its own. `usable`: the system lets us make one."""

    def __init__(self, mib):
        for base, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            self.folder = f"{base}/gatehouse-test-{os.getpid()}"
            try:
                os.mkdir(self.folder)
                with open(f"{self.folder}/{limit}", "w", encoding="ascii") as file:
                    file.write(str(mib << 20))
                self.usable = True
                return
            except OSError:
                if os.path.isdir(self.folder):
                    os.rmdir(self.folder)
        self.usable = False

    def remove(self):
        """As soon as the last of its processes has gone."""
        deadline = time.monotonic() + GRACE_S
        while True:
            try:
                return os.rmdir(self.folder)
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def enter(self):
        """For preexec_fn."""
        with open(f"{self.folder}/cgroup.procs", "w", encoding="ascii") as file:
            file.write(str(os.getpid()))


class DaemonFaults(DaemonCase):
    def refused(self, result, *words):
        """Nothing ran, and the message says why and what to do."""
        self.assertEqual((result["status"], result.get("exitCode"), result.get("output", "")), ("failed", None, ""), result)
        for word in words:
            self.assertIn(word, result["message"])

    # --- disks

    @unittest.skipUnless(can_mount(), "mounts a small disk, which only root can")
    def test_205_a_full_disk_stops_calls_with_its_name_and_room_lets_them_go_on(self):
        os.mkdir(self.base + "/state")
        daemon, _ = self.serve(inside=["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size=1m none {self.base}/state && exec \"$@\"", "-"])
        client = self.client(daemon)
        thread = self.thread(client)
        self.assertEqual(self.call(client, thread, "echo before >> ran")["status"], "completed")
        hog = f"/proc/{daemon.pid}/root{self.base}/state/hog"
        with open(hog, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError as full:
                self.assertIn("No space left", str(full))
        told = [self.call(client, thread, f"echo {n} >> ran # {'x' * 3000}") for n in range(30)]
        self.refused(told[-1], "could not be recorded", "full", self.state, "free space")
        self.assertEqual(len(self.lines()), 1 + sum(one["status"] == "completed" for one in told))
        os.unlink(hog)
        self.assertEqual(self.call(client, thread, "echo after >> ran")["status"], "completed")
        self.assertEqual(self.lines()[-1], "after")
        # What waited for room is made up for, in its order.
        entries = self.audit(inside=["nsenter", "-m", "-t", str(daemon.pid)])
        attempts = [entry["call"] for entry in entries if entry["kind"] == "attempt"]
        self.assertEqual((len(attempts), len(set(attempts))), (len(self.lines()), len(self.lines())))
        self.assertEqual(sum(entry["kind"] == "end" for entry in entries), 32)

    @unittest.skipUnless(can_mount(), "mounts a small disk, which only root can")
    def test_on_a_disk_that_is_full_from_the_start_no_program_begins(self):
        os.mkdir(self.base + "/state")
        fill = f"mount -t tmpfs -o size=64k none {self.base}/state && cat /dev/zero > {self.base}/state/hog 2>/dev/null; cd {self.ws} && exec \"$@\""
        for words in (["serve"], ["exec-server"], ["mcp"], ["run", "--", "touch", "ran"]):
            with self.subTest(words=words):
                done = self.gatehouse(*words, inside=["unshare", "-m", "sh", "-c", fill, "-"])
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, "No space left on device|disk is full")
                self.assertIn(self.state, done.stderr)
                self.assertIn("next:", done.stderr)
        self.assertEqual(os.listdir(self.ws), [])

    @unittest.skipUnless(can_mount(), "mounts a small disk, which only root can")
    def test_a_full_workspace_is_the_commands_own_fault_and_no_refusal_of_the_sandbox(self):
        daemon, _ = self.serve(inside=["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size=64k none {self.ws} && cd {self.ws} && exec \"$@\"", "-"])
        client = self.client(daemon)
        thread = self.thread(client)
        result = self.call(client, thread, "head -c 200000 /dev/zero > big; echo status $?")
        self.assertIn("No space left on device", result["output"])
        self.assertFalse(result.get("sandboxDenied"), result)
        result = self.call(client, thread, "echo more > more && cat more")
        self.assertEqual((result["status"], result.get("sandboxDenied", False)), ("completed", False), result)
        self.assertNotEqual(result["exitCode"], 0)
        self.assertEqual(self.call(client, thread, "rm big; echo more > more && cat more")["output"], "more\n")

    # --- what stands in the state folder goes away under a running daemon

    def test_205_an_audit_that_is_removed_under_a_daemon_goes_on_in_a_new_one(self):
        daemon, _ = self.serve()
        client = self.client(daemon)
        thread = self.thread(client)
        self.assertEqual(self.call(client, thread, "true")["status"], "completed")
        for end in ("", "-wal", "-shm"):
            os.unlink(f"{self.state}/audit/audit.db{end}")
        self.assertEqual(self.call(client, thread, "echo two >> ran")["status"], "completed")
        self.assertEqual([entry["kind"] for entry in self.audit() if entry.get("call") == f"{thread}-2"],
                         ["request", "decision", "attempt", "attempt_end", "end"])
        client.drop()
        daemon.terminate()
        self.assertIn("was moved or removed", daemon.communicate(timeout=GRACE_S)[1])

    def test_205_readers_ended_a_daemon_whose_audit_had_been_moved(self):
        daemon, _ = self.serve()
        client = self.client(daemon)
        thread = self.thread(client)
        self.assertEqual(self.call(client, thread, "true")["status"], "completed")
        database, kept = f"{self.state}/audit/audit.db", self.base + "/kept.db"
        os.rename(database, kept)
        for n in range(8):
            self.assertEqual(self.call(client, thread, f"echo {n} >> ran")["status"], "completed")
            self.assertEqual(self.gatehouse("audit", "show", "1").returncode, 0)
        self.assertIsNone(daemon.poll())
        self.assertEqual(sum(entry["kind"] == "attempt" for entry in self.audit()), 8)
        client.drop()
        daemon.terminate()
        told = daemon.communicate(timeout=GRACE_S)[1]
        self.assertEqual(daemon.returncode, 0, told)
        self.assertIn("was moved or removed; a new one begins", told)
        self.assertIn("What it knew stands in the file that was moved.", told)
        # As it says: in that file alone.
        with contextlib.closing(sqlite3.connect(kept)) as old:
            self.assertEqual(old.execute("SELECT call FROM entry WHERE kind = 'attempt'").fetchall(), [(f"{thread}-1",)])

    def test_205_calls_after_a_file_beside_the_audit_had_gone_were_recorded_nowhere(self):
        for ends in (["-wal"], ["-shm"], ["-wal", "-shm"]):
            with self.subTest(ends=ends):
                daemon, _ = self.serve()
                client = self.client(daemon)
                thread = self.thread(client)
                self.assertEqual(self.call(client, thread, "true")["status"], "completed")
                for end in ends:
                    os.unlink(f"{self.state}/audit/audit.db{end}")
                for _ in range(2):
                    self.assertEqual(self.call(client, thread, "true")["status"], "completed")
                self.assertEqual([entry["call"] for entry in self.audit() if entry["kind"] == "attempt" and entry["call"].startswith(thread)],
                                 [f"{thread}-{n}" for n in (1, 2, 3)])
                client.drop()
                daemon.terminate()
                told = daemon.communicate(timeout=GRACE_S)[1]
                self.assertEqual(daemon.returncode, 0, told)
                self.assertIn("everything that was recorded stands in it", told)

    def test_205_an_audit_that_is_overwritten_under_a_daemon_lets_nothing_run_unrecorded(self):
        daemon, _ = self.serve()
        client = self.client(daemon)
        thread = self.thread(client)
        self.assertEqual(self.call(client, thread, "echo before >> ran")["status"], "completed")
        with open(f"{self.state}/audit/audit.db", "r+b") as file:
            file.write(os.urandom(os.path.getsize(file.name)))
        with open(f"{self.state}/audit/audit.db-wal", "r+b") as file:
            file.write(os.urandom(os.path.getsize(file.name)))
        told = [self.call(client, thread, "echo after >> ran") for _ in range(3)]
        ran = sum(one["status"] == "completed" for one in told)
        self.assertEqual(len(self.lines()), 1 + ran)
        for one in told:
            if one["status"] != "completed":
                self.refused(one, "could not be recorded", "damaged", "docs/audit.md")
        self.assertIsNone(daemon.poll())
        # What the daemon still knew it may have written anew; then all of it stands. Else the damage is told.
        verified = self.gatehouse("audit", "verify")
        if verified.returncode == 0:
            self.assertEqual(sum(entry["kind"] == "attempt" for entry in self.audit()), 1 + ran)
        else:
            self.assertRegex(verified.stdout + verified.stderr, "damaged|fault|not as")

    # --- descriptors

    @unittest.skipIf(SANITIZED, "the sanitizer needs descriptors of its own")
    def test_out_of_descriptors_a_daemon_refuses_with_the_reason_and_serves_on(self):
        daemon, _ = self.serve(preexec_fn=limited((resource.RLIMIT_NOFILE, 64)))
        client = self.client(daemon)
        thread = self.thread(client)
        # Sessions that stay hold descriptors, until there is none for the next.
        held, refused = [], None
        for number in range(40):
            answer = client.call("tool/call", GRACE_S, threadId=thread, callId=f"held-{number}", tool="exec_command",
                                 arguments={"cmd": f"sleep 600 # {self.base}", "yield_time_ms": 250})["result"]
            if "sessionId" not in answer:
                refused = answer
                break
            held.append(answer["sessionId"])
        self.assertIsNotNone(refused, "forty sessions on 64 descriptors")
        self.refused(refused, "limits of open files")
        self.refused(self.call(client, thread, "echo never >> ran"), "limits of open files")
        self.assertEqual(self.lines(), [])
        self.assertIsNone(daemon.poll())
        client.call("turn/interrupt", threadId=thread)
        for session in held:
            client.call("tool/call", GRACE_S, threadId=thread, callId=f"kill-{session}", tool="write_stdin",
                        arguments={"session_id": session, "chars": "\x03", "yield_time_ms": 250})
        for _ in range(100):
            last = self.call(client, thread, "echo after >> ran")
            if last["status"] == "completed":
                break
        self.assertEqual(self.lines(), ["after"], last)

    @unittest.skipIf(SANITIZED, "the sanitizer needs descriptors of its own")
    def test_strangers_who_only_connect_took_the_descriptors_of_calls(self):
        daemon, _ = self.serve(preexec_fn=limited((resource.RLIMIT_NOFILE, 64)))
        client = self.client(daemon)
        thread = self.thread(client)
        strangers = [exec_client.socket.create_connection(("127.0.0.1", daemon.port)) for _ in range(200)]
        for _ in range(3):
            told = self.call(client, thread, "echo inside")
            self.assertEqual(told["output"], "inside\n", told["message"])
        for stranger in strangers:
            stranger.close()
        client.drop()
        other = self.client(daemon)
        self.assertEqual(self.call(other, self.thread(other), "echo later")["output"], "later\n")

    @unittest.skipIf(SANITIZED, "the sanitizer needs descriptors of its own")
    def test_out_of_descriptors_an_exec_server_refuses_with_the_reason_and_serves_on(self):
        server = exec_client.Server("--no-auth", cwd=self.ws, env=self.env, preexec_fn=limited((resource.RLIMIT_NOFILE, 64)))
        self.addCleanup(server.stop)
        client = exec_client.Client(server)
        self.addCleanup(client.drop)
        client.start_session()
        answers = [client.call("process/start", **exec_client.start(f"p{n}", ["/bin/sh", "-c", f"sleep 600 # {self.base}"], self.ws)) for n in range(40)]
        failed = [one["error"]["message"] for one in answers if "error" in one]
        self.assertTrue(failed)
        for message in failed:
            self.assertIn("limits of open files", message)
        for n in range(40):
            client.call("process/terminate", processId=f"p{n}")
        for n in range(100):
            if "result" in client.call("process/start", **exec_client.start(f"q{n}", ["/bin/true"], self.ws)):
                break
        else:
            self.fail("it does not serve on")

    @unittest.skipIf(SANITIZED, "the sanitizer needs descriptors of its own")
    def test_202_a_batch_with_few_descriptors_tells_of_each_call_what_became_of_it(self):
        path = self.base + "/calls.jsonl"
        with open(path, "w", encoding="ascii") as file:
            for n in range(60):
                file.write(json.dumps({"callId": f"c{n}", "arguments": {"command": f"echo {n} >> ran; sleep 0.3"}}) + "\n")
        done = self.gatehouse("batch", "--cwd", self.ws, "--profile", "workspace-write", "-j", "32", path, preexec_fn=limited((resource.RLIMIT_NOFILE, 64)))
        results = [json.loads(line)["result"] for line in done.stdout.splitlines()]
        self.assertEqual(len(results), 60, done.stderr)
        completed = [one for one in results if one["status"] == "completed"]
        for one in results:
            if one["status"] != "completed":
                self.refused(one, "open files")
        self.assertEqual(len(self.lines()), len(completed))
        self.assertEqual(done.returncode, 0 if len(completed) == 60 else 1, done.stderr)

    # --- processes

    @unittest.skipIf(SANITIZED, "the sanitizer needs processes of its own")
    @unittest.skipUnless(ROOT, "needs another user id, whose processes it counts")
    def test_out_of_processes_a_daemon_refuses_with_the_reason_and_serves_on(self):
        for folder in (self.base, self.ws, self.base + "/home"):
            os.chown(folder, USER, USER)

        def become():
            resource.setrlimit(resource.RLIMIT_NPROC, (40, 40))
            os.setgroups([])
            os.setgid(USER)
            os.setuid(USER)
        daemon, _ = self.serve(preexec_fn=become)
        client = self.client(daemon)
        thread = self.thread(client)
        self.assertEqual(self.call(client, thread, "echo before")["output"], "before\n")
        hogs = []
        try:
            while True:
                hogs.append(subprocess.Popen(["sleep", "600"], preexec_fn=become))
        except (OSError, subprocess.SubprocessError):
            pass
        told = [self.call(client, thread, "echo never >> ran") for _ in range(3)]
        for hog in hogs:
            hog.kill()
            hog.wait()
        for one in told:
            self.refused(one, "processes")
        self.assertEqual(self.lines(), [])
        self.assertEqual(self.call(client, thread, "echo after")["output"], "after\n")

    # --- memory

    @unittest.skipUnless(ROOT, "limits the memory of a group, which only root can")
    def test_the_system_kills_a_command_for_want_of_memory_and_its_call_is_told(self):
        group = MemoryGroup(1536 if SANITIZED else 200)
        if not group.usable:
            self.skipTest("no group of processes with a limit of memory can be made here")
        self.addCleanup(group.remove)
        daemon, _ = self.serve(preexec_fn=group.enter)
        client = self.client(daemon)
        thread = self.thread(client)
        result = self.call(client, thread, "python3 -c 'x = bytearray(2 << 30)'; status=$?; echo status $status; exit $status", timeout_ms=50_000)
        self.assertEqual((result["status"], result["exitCode"]), ("completed", 137), result)
        self.assertIn("status 137", result["output"])
        self.assertFalse(result.get("sandboxDenied"), result)
        self.assertEqual(self.call(client, thread, "echo after")["output"], "after\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
