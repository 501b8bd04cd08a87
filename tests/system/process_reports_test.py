"""Reports about the life and the output of commands (BR rows: process_lifecycle, output, performance), through the real
programs: prompts of other programs, descendants, sessions that are cut, output without end, every way to start something."""
import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from boundary_support import DISABLED, WORKSPACE, BoundaryCase, running, until
from exec_client import GATEHOUSE, Client, Server, sandbox, start, uri
from run_case import GRACE_S, SANITIZED

# How long a line stays cut in the test of BR-152; the report says 150.
CUT_S = float(os.environ.get("GATEHOUSE_CUT_SECONDS", "2"))


def text_of(data):
    return base64.b64encode(data.encode()).decode()


class Sessions(BoundaryCase):
    """Terminal sessions and pipes of a real exec server."""

    def follow(self, client, process_id, enough=lambda text: False, seconds=60):
        """(output, exit code or None): until it is enough, or the process is closed."""
        text, code, end = "", None, time.monotonic() + seconds
        while not enough(text):
            message = client.pending.pop(0) if client.pending else client.receive(end - time.monotonic())
            self.assertIsNotNone(message, "the server closed the connection")
            params = message.get("params", {})
            if params.get("processId") != process_id:
                continue
            if message["method"] == "process/output":
                text += base64.b64decode(params["chunk"]).decode("utf-8", "replace")
            elif message["method"] == "process/exited":
                code = params["exitCode"]
            elif message["method"] == "process/closed":
                break
        return text, code

    @unittest.skipUnless(shutil.which("gpg") and os.path.exists("/usr/bin/pinentry-curses"), "needs gpg and its prompt")
    def test_br_141_a_prompt_for_a_pass_phrase_is_seen_and_answered_or_fails_at_once(self):
        keys = self.ws + "/keys"
        os.mkdir(keys, 0o700)
        who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
        env = {"PATH": "/usr/bin:/bin", "GNUPGHOME": keys, "HOME": self.ws, "GIT_CONFIG_GLOBAL": "/dev/null",
               "TERM": "xterm", **who}
        with open(keys + "/gpg-agent.conf", "w", encoding="ascii") as file:
            file.write("pinentry-program /usr/bin/pinentry-curses\n")
        for words in (["gpg", "--batch", "--passphrase", "open sesame", "--quick-gen-key", "a <a@b>", "ed25519", "sign",
                       "never"], ["gpgconf", "--kill", "all"], ["git", "init", "-q", self.ws]):
            subprocess.run(words, env=env, check=True, stderr=subprocess.DEVNULL)
        boundary = sandbox(self.ws, extra=[{"path": {"type": "path", "path": uri(self.ws + "/.git")}, "access": "write"}])
        commit = "git -c commit.gpgsign=true -c user.signingkey=a@b commit --allow-empty -m x"

        def begin(client, tty, script):
            started = client.call("process/start", **start("p", ["/bin/bash", "-c", script], self.ws, env=env, tty=tty,
                                                           boundary=boundary))
            self.assertIn("result", started, started)
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            begin(client, False, commit)
            said, code = self.follow(client, "p")
            self.assertEqual(code, 128, said)
            self.assertIn("gpg failed to sign", said)
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            begin(client, True, "export GPG_TTY=$(tty); " + commit)
            said, _ = self.follow(client, "p", lambda text: "Passphrase:" in text and "Cancel" in text)
            self.assertIn("unlock the OpenPGP secret key", said)
            client.call("process/write", processId="p", writeId="1", chunk=text_of("open sesame\r"))
            said, code = self.follow(client, "p")
            self.assertEqual(code, 0, said)
        log = subprocess.run(["git", "-C", self.ws, "log", "--format=%G? %s"], env=env, capture_output=True, text=True,
                             check=True)
        subprocess.run(["gpgconf", "--kill", "all"], env=env, check=True)
        self.assertEqual(log.stdout, "G x\n")

    def test_br_152_a_session_is_taken_up_after_a_cut_and_every_line_arrives_once(self):
        script = 'while read -r l; do [ "$l" = B ] && head -c 8192 /dev/zero | tr "\\0" z; echo "$l"; done'
        with Server("--no-auth", "--session-ttl-ms", "600000") as server:
            client = Client(server)
            session = client.start_session()["result"]["sessionId"]
            client.call("process/start", **start("p", ["/bin/bash", "-c", script], self.ws, pipeStdin=True))
            chunks, number = {}, 0

            def say(*words):
                nonlocal number
                for word in words:
                    number += 1
                    client.call("process/write", processId="p", writeId=str(number), chunk=text_of(word + "\n"))

            def whole():
                return b"".join(base64.b64decode(chunks[seq]) for seq in sorted(chunks)).decode()

            def hear(expected):
                while whole() != expected:
                    message = client.pending.pop(0) if client.pending else client.receive(30)
                    self.assertIsNotNone(message)
                    if message.get("method") == "process/output":
                        params = message["params"]
                        self.assertNotIn(params["seq"], chunks)
                        chunks[params["seq"]] = params["chunk"]
            part = "s\n" + "z" * 8192 + "B\ns\n"
            say("s", "B", "s")
            hear(part)
            say("B")  # what comes while nobody hears it
            client.drop()
            time.sleep(CUT_S)
            client = Client(server)
            resumed = client.start_session(session)
            self.assertEqual(resumed["result"]["sessionId"], session)
            client.pending = []
            answer = client.call("process/read", processId="p", afterSeq=max(chunks), waitMs=1000)["result"]
            for chunk in answer["chunks"]:
                self.assertNotIn(chunk["seq"], chunks)
                chunks[chunk["seq"]] = chunk["chunk"]
            client.pending = [m for m in client.pending if m.get("params", {}).get("seq", 0) > max(chunks)]
            say("s", "B", "s")
            hear(part + "z" * 8192 + "B\n" + part)
            self.assertEqual(sorted(chunks), list(range(1, len(chunks) + 1)))

    def test_br_073_what_is_written_to_a_session_stays_inside(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            for tty in (False, True):
                name = f"p{tty}"
                client.call("process/start", **start(name, ["/bin/sh"], self.ws, tty=tty, pipeStdin=not tty))
                client.call("process/write", processId=name, writeId="1",
                            chunk=text_of(f"touch {self.out}/f; touch here{tty}; exit 5\n"))
                self.assertEqual(self.follow(client, name)[1], 5)
        self.assertEqual((os.listdir(self.out), sorted(os.listdir(self.ws))), ([], ["hereFalse", "hereTrue"]))


class Commands(BoundaryCase):
    def environment(self):
        return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.base, "GATEHOUSE_HOME": self.base + "/home",
                "XDG_STATE_HOME": self.base + "/state", "SHELL": "/bin/bash", "TMPDIR": self.base + "/tmp"}

    def test_br_073_a_batch_a_run_and_a_load_start_what_they_start_inside(self):
        touch = f"bash -fc 'touch {self.out}/f'; echo started"
        with open(self.base + "/calls.jsonl", "w", encoding="utf-8") as file:
            file.write(json.dumps({"arguments": {"command": touch}}) + "\n")
        common = ["--cwd", self.ws, "--profile", "workspace-write"]
        for words in (["run", *common, "--shell", touch], ["batch", *common, self.base + "/calls.jsonl"]):
            done = subprocess.run([GATEHOUSE, *words], env=self.environment(), capture_output=True, text=True, timeout=GRACE_S,
                                  check=False, stdin=subprocess.DEVNULL)
            self.assertIn("started", done.stdout, done.stderr)
        server = subprocess.Popen([GATEHOUSE, "serve", "--listen", "ws://127.0.0.1:0", "--root", self.ws, *common],
                                  env=self.environment(), stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().strip()
            done = subprocess.run([GATEHOUSE, "load", "--duration", "1", "--warm-up", "0", "--cwd", self.ws, "--mix",
                                   self.base + "/calls.jsonl", url], env=self.environment(), capture_output=True, text=True, timeout=GRACE_S,
                                  check=False, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        finally:
            server.terminate()
            server.wait(30)
            server.stdout.close()
        self.assertEqual(os.listdir(self.out), [])

    def test_br_147_what_a_command_leaves_behind_ends_with_it_and_with_its_helper(self):
        leave = f"setsid sleep {self.marker} & (setsid setsid sleep {self.marker} &) ; "
        for name, profile, more in (("view", WORKSPACE, []), ("landlock", WORKSPACE, ["--use-legacy-landlock"]),
                                    ("no boundary", DISABLED, [])):
            argv = self.argv(["/bin/bash", "-c", leave + "exit 0"], profile)
            argv[1:1] = more
            subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, timeout=GRACE_S)
            self.assertEqual(running(self.marker), [], name)
            argv = self.argv(["/bin/bash", "-c", leave + f"echo up; exec sleep {self.marker}"], profile)
            argv[1:1] = more
            with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as helper:
                self.assertEqual(helper.stdout.readline(), b"up\n", name)
                helper.send_signal(signal.SIGKILL)
            self.assertTrue(until(lambda: not running(self.marker)), name)

    def test_br_164_output_without_end_is_counted_and_reaches_no_disk(self):
        os.makedirs(self.base + "/tmp")
        argv = [GATEHOUSE, "run", "--json", "--timeout-ms", "3000", "--cwd", self.ws, "--profile", "workspace-write"]
        feeds_on_itself = "cat /proc/self/fd/1 /proc/*/fd/* & tail -n +1 -F /proc/self/fd/1 & "
        with subprocess.Popen([*argv, "--shell", feeds_on_itself + "yes > /dev/stdout"], env=self.environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as host:
            heard = []
            reader = threading.Thread(target=lambda: heard.append(host.stdout.read()))
            reader.start()
            written, resident = set(), 0
            while host.poll() is None:
                written |= self.files_written_by(host.pid)
                resident = max(resident, self.resident_kib(host.pid))
                time.sleep(0.1)
            reader.join()
        document = json.loads(heard[0])
        self.assertEqual(document["exit_status"], 124)
        self.assertLess(len(heard[0]), 8 << 20)
        if not SANITIZED:
            self.assertLess(resident, 200 * 1024)
        audit = self.base + "/state/gatehouse/audit/"  # keeps how much it was, and not what
        self.assertEqual({path for path in written if not path.startswith(audit)}, set())
        kept = sum(entry.stat().st_size for entry in os.scandir(audit) if not entry.name.endswith("-shm"))
        self.assertLess(kept, 256 << 10)
        size = sum(os.lstat(os.path.join(at, name)).st_size for at, _, files in os.walk(self.base) for name in files)
        self.assertLess(size, 1 << 20)
        self.assertGreater(document["truncated_bytes"], 0)

    @staticmethod
    def files_written_by(pid):
        """Regular files with a name that the process has open for writing."""
        found = set()
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                target = os.readlink(f"/proc/{pid}/fd/{fd}")
                with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as info:
                    flags = int(next(line for line in info if line.startswith("flags:")).split()[1], 8)
                if flags & os.O_ACCMODE != os.O_RDONLY and os.path.isfile(target) and not target.startswith("/memfd:"):
                    found.add(target)
        except OSError:
            pass
        return found

    @staticmethod
    def resident_kib(pid):
        try:
            with open(f"/proc/{pid}/status", encoding="ascii") as status:
                return next((int(line.split()[1]) for line in status if line.startswith("VmRSS")), 0)
        except OSError:
            return 0

    def test_br_199_start_up_files_are_read_only_for_a_call_that_asks(self):
        for name in (".profile", ".bash_profile", ".bashrc", ".bash_login"):
            with open(f"{self.base}/{name}", "w", encoding="ascii") as file:
                file.write("echo sourced\nsleep 0.4\n")
        argv = [GATEHOUSE, "run", "--cwd", self.ws, "--profile", "workspace-write", "--shell", "echo ran"]
        for more, expected in (([], "ran\n"), (["--login"], "sourced\nran\n")):
            done = subprocess.run([*argv, *more], env=self.environment(), capture_output=True, text=True, timeout=GRACE_S,
                                  check=False, stdin=subprocess.DEVNULL)
            self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)


if __name__ == "__main__":
    unittest.main()
