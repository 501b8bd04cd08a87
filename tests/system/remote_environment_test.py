#!/usr/bin/env python3
"""§7, §120: `gatehouse run --exec-server` runs its command behind the boundary of another exec server."""
import base64
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from exec_client import GATEHOUSE, Server
from run_case import GRACE_S


class ToldServer:
    """An exec server that runs nothing: each process says what it is told to, with rising numbers; None: it is mute."""

    def __init__(self, events, first=1, greeting=None):
        self.events, self.heard, self.first, self.greeting = events, [], first, greeting or {}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"ws://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                line, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(line,), daemon=True).start()

    def serve(self, line):
        file = line.makefile("rb")
        try:
            key = b""
            while (header := file.readline().strip()):
                name, _, value = header.partition(b":")
                key = value.strip() if name.lower() == b"sec-websocket-key" else key
            accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()
            line.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Accept: {accept}\r\n\r\n").encode())
            while (head := file.read(2)):
                size = head[1] & 127
                size = int.from_bytes(file.read(2), "big") if size == 126 else size
                mask, data = file.read(4), file.read(size)
                if head[0] & 15 == 1:
                    self.answer(line, json.loads(bytes(b ^ mask[i % 4] for i, b in enumerate(data))))
        except OSError:
            pass

    def answer(self, line, message):
        self.heard.append(message.get("method"))
        if self.events is None or "id" not in message:
            return
        told = message.get("params", {})
        nothing = {"chunks": [], "nextSeq": (told.get("afterSeq") or 0) + 1, "exited": False, "closed": False}
        result = {"process/read": nothing, "initialize": {"sessionId": "s", **self.greeting}, "process/terminate": {"running": False},
                  "process/start": {"processId": told.get("processId"), "sandboxType": "none"}}
        self.send(line, {"id": message["id"], "result": result.get(message["method"], {})})
        if message["method"] == "process/start":
            for seq, one in enumerate(self.events(told), self.first):
                if isinstance(one, bytes):
                    self.send(line, one)
                    continue
                method, params = one
                self.send(line, {"method": method, "params": {"processId": told["processId"], "seq": seq, **params}})

    @staticmethod
    def send(line, message):
        binary = isinstance(message, bytes)
        data = message if binary else json.dumps(message).encode()
        size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + len(data).to_bytes(2, "big")
        line.sendall((b"\x82" if binary else b"\x81") + size + data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


class CuttingProxy:
    """Passes bytes on until the line is cut: then both sides lose what was on its way."""

    def __init__(self, port):
        self.port = port
        self.lines, self.lock, self.silent, self.down = [], threading.Lock(), False, False
        self.flows = threading.Event()  # else what comes waits
        self.flows.set()
        self.late_s = 0  # for each piece of what a client says behind its greeting
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"ws://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.down:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.port))
            with self.lock:
                self.lines.append((client, server))
            threading.Thread(target=self.pump, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, False), daemon=True).start()

    def pump(self, source, sink, rename):
        upwards, pieces = rename, 0
        try:
            while data := source.recv(65536):
                pieces += 1
                if upwards and pieces > 2:  # the upgrade and `initialize`: each waits for its answer
                    time.sleep(self.late_s)
                self.flows.wait()
                if rename:  # the server takes only its own address
                    data = re.sub(rb"(?i)host: [^\r]*", f"Host: 127.0.0.1:{self.port}".encode(), data, count=1)
                    rename = False
                if not self.silent:
                    sink.sendall(data)
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()

    def cut(self):
        with self.lock:
            lines, self.lines = self.lines, []
        for pair in lines:
            for one in pair:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        return bool(lines)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes who accepts
        self.listener.close()
        self.cut()


class RemoteEnvironment(unittest.TestCase):
    def setUp(self):
        self.base = os.path.realpath(tempfile.mkdtemp(prefix="gatehouse-remote-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.base, True)
        self.ws = os.path.join(self.base, "there")
        os.mkdir(self.ws)
        self.env = dict(os.environ, HOME=self.base, GATEHOUSE_HOME=self.base + "/home", XDG_STATE_HOME=self.base + "/state")

    def command(self, url, *what, options=()):
        return [GATEHOUSE, "run", "--exec-server", url, "--exec-cwd", self.ws, "--profile", "workspace-write", *options,
                "--", *what]

    def run_there(self, url, *what, options=(), timeout=120):
        return subprocess.run(self.command(url, *what, options=options), env=self.env, capture_output=True, text=True,
                              timeout=timeout, stdin=subprocess.DEVNULL)

    def test_120_a_command_runs_there_with_its_output_and_its_end(self):
        with Server("--no-auth", env=self.env, cwd="/") as server:
            run = self.run_there(server.url, "sh", "-c", "pwd; echo err >&2; echo made > here; exit 3")
            self.assertEqual((run.returncode, run.stdout), (3, self.ws + "\n"), run.stderr)
            self.assertIn("err\n", run.stderr)
            self.assertTrue(os.path.exists(os.path.join(self.ws, "here")))
            late = self.run_there(server.url, "sleep", "60", options=["--timeout-ms", "300"])
            self.assertEqual(late.returncode, 124, late.stderr)

    def test_120_a_missing_program_or_folder_there_is_not_an_end_without_a_word(self):
        with Server("--no-auth", env=self.env, cwd="/") as server:
            missing = self.run_there(server.url, "no-such-program-anywhere")
            self.assertEqual(missing.returncode, 127, missing.stderr)
            self.assertRegex(missing.stderr, "gatehouse: .* did not start the command: no-such-program-anywhere.*No such file")
            folder = os.path.join(self.base, "not-there")
            missing = subprocess.run([GATEHOUSE, "run", "--exec-server", server.url, "--exec-cwd", folder, "--profile",
                                      "workspace-write", "--json", "--", "true"], env=self.env, capture_output=True, text=True,
                                     timeout=GRACE_S, stdin=subprocess.DEVNULL)
            self.assertEqual(missing.returncode, 127, missing.stderr)
            self.assertIn(folder + ": No such file", json.loads(missing.stdout)["aggregated"])

    def test_92_what_the_boundary_there_refuses_is_told(self):
        with Server("--no-auth", env=self.env, cwd="/") as server:
            run = self.run_there(server.url, "sh", "-c", "echo x > /usr/gatehouse-no", options=["--json", "--ask", "never"])
            told = json.loads(run.stdout)
            self.assertEqual(told["attempts"][0]["ending"] if "ending" in told["attempts"][0] else "denied", "denied", told)
            self.assertFalse(os.path.exists("/usr/gatehouse-no"))

    def test_68_nothing_runs_here_when_the_server_cannot_be_reached_or_refuses(self):
        with socket.create_server(("127.0.0.1", 0)) as unused:
            port = unused.getsockname()[1]
        run = self.run_there(f"ws://127.0.0.1:{port}", "touch", "here")
        self.assertEqual(run.returncode, 121, run.stderr)
        self.assertIn("See that `gatehouse exec-server` listens there", run.stderr)  # the next step was missing
        with Server(env=self.env, cwd="/") as server:  # it wants a token
            run = self.run_there(server.url, "touch", "here")
            self.assertEqual(run.returncode, 121, run.stderr)
            self.assertIn("token", run.stderr)
            token = os.path.join(self.base, "state", "gatehouse", "tokens", "exec.token")
            run = self.run_there(server.url, "cat", token, options=["--exec-token-file", token])
            self.assertNotEqual(run.returncode, 0)  # the server hides it from what it runs
            with open(token, encoding="utf-8") as file:
                self.assertNotIn(file.read().strip(), run.stdout + run.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.ws, "here")))

    def test_7_options_that_do_not_fit_are_refused_and_nothing_runs(self):
        there = ["--exec-cwd", self.ws]
        for options, part in (
                (there, "needs --exec-server"),
                (["--exec-token-file", "/dev/null"], "needs --exec-server"),
                (["--exec-server", "ws://127.0.0.1:9"], "--exec-cwd"),
                (["--exec-server", "ws://127.0.0.1:9", "--exec-cwd", "there"], "absolute"),
                (["--exec-server", "http://127.0.0.1:9", *there], "--exec-server"),
                (["--exec-server", "ws://192.0.2.1:9", *there], "not encrypted"),
                (["--exec-server", "ws://127.0.0.1:9", *there, "--exec-token-file", self.base + "/none"], "no token")):
            run = subprocess.run([GATEHOUSE, "run", *options, "--", "touch", self.ws + "/here"], env=self.env, cwd=self.ws,
                                 capture_output=True, text=True, timeout=GRACE_S, stdin=subprocess.DEVNULL)
            self.assertEqual(run.returncode, 2, (options, run.stderr))
            self.assertIn(part, run.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.ws, "here")))

    def test_120_fifty_cuts_lose_no_line_and_double_none(self):
        lines = 3000
        with Server("--no-auth", env=self.env, cwd="/") as server:
            proxy = CuttingProxy(server.port)
            self.addCleanup(proxy.close)
            script = f"i=0; while [ $i -lt {lines} ]; do echo $i; i=$((i+1)); [ $((i % 5)) -ne 0 ] || sleep 0.02; done; exit 5"
            run = subprocess.Popen(self.command(proxy.url, "bash", "-c", script, options=["--timeout-ms", "200000"]),
                                   env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                   stdin=subprocess.DEVNULL)
            self.addCleanup(run.stdout.close)
            heard, cuts = [], 0
            reader = threading.Thread(target=lambda: heard.extend(iter(run.stdout.readline, "")), daemon=True)
            reader.start()
            while run.poll() is None and cuts < 50:
                time.sleep(0.15)
                if heard:
                    cuts += proxy.cut()
            self.assertEqual(run.wait(200), 5, heard[-5:])
            reader.join(30)
        self.assertEqual("".join(heard), "".join(f"{i}\n" for i in range(lines)))
        self.assertEqual(cuts, 50, "the command was over too soon")

    def test_120_a_connection_that_does_not_come_back_is_an_end_that_says_so(self):
        with Server("--no-auth", env=self.env, cwd="/") as server:
            proxy = CuttingProxy(server.port)
            run = subprocess.Popen(self.command(proxy.url, "sh", "-c", "echo up; sleep 600",
                                                options=["--timeout-ms", "600000"]),
                                   env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   stdin=subprocess.DEVNULL)
            self.assertEqual(run.stdout.readline(), "up\n")
            proxy.close()
            out, err = run.communicate(timeout=GRACE_S)
        self.assertEqual(run.returncode, 121, err)
        self.assertIn("did not come back", err)
        self.assertIn("What became of the command is not known", err)
        self.assertNotIn("not run", err)

    def test_120_output_that_a_cut_lost_is_counted_to_the_byte_in_the_result(self):
        size = 3_000_000
        script = f"echo up; sleep 2; head -c {size} /dev/zero | tr '\\0' x; touch {self.ws}/said; sleep 4; echo done"
        with Server("--no-auth", env=self.env, cwd="/") as server:
            proxy = CuttingProxy(server.port)
            self.addCleanup(proxy.close)
            run = subprocess.Popen(self.command(proxy.url, "sh", "-c", script, options=["--json", "--timeout-ms", "100000"]),
                                   env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   stdin=subprocess.DEVNULL)
            time.sleep(1.5)
            proxy.down = True
            self.assertTrue(proxy.cut())
            until = time.monotonic() + 30
            while not os.path.exists(self.ws + "/said") and time.monotonic() < until:
                time.sleep(0.05)
            proxy.down = False
            out, err = run.communicate(timeout=100)
        told = json.loads(out)
        self.assertEqual(run.returncode, 0, err)
        self.assertGreater(told["truncated_bytes"], size // 2)
        self.assertEqual(told["stdout"].count("x") + told["truncated_bytes"], size)
        self.assertRegex(told["stderr"], r"[0-9]+ bytes of output were lost while the connection was cut")

    def test_120_a_server_that_goes_on_beyond_what_is_missing_does_not_fill_the_memory(self):
        chunk = base64.b64encode(b"x" * 45_000).decode()
        with ToldServer(lambda told: [("process/output", {"stream": "stdout", "chunk": chunk})] * 500, first=2) as server:
            run = self.run_there(server.url, "true", options=["--timeout-ms", "60000"])
        self.assertEqual(run.returncode, 121, run.stderr)
        self.assertIn("breaks the protocol", run.stderr)
        self.assertEqual(run.stdout, "")

    def test_120_a_server_that_leaves_out_a_number_was_only_ended_by_the_time_limit(self):
        def events(told):
            return [("process/output", {"stream": "stdout", "chunk": base64.b64encode(b"one\n").decode(), "seq": 1}),
                    ("process/output", {"stream": "stdout", "chunk": base64.b64encode(b"three\n").decode(), "seq": 3})]
        with ToldServer(events) as server:
            run = self.run_there(server.url, "true", options=["--timeout-ms", "600000"])
        self.assertEqual((run.returncode, run.stdout), (121, "one\n"), run.stderr)
        self.assertIn("breaks the protocol: it went on with what a command says without number 2 of it", run.stderr)
        self.assertEqual(server.heard.count("process/read"), 1)

    def test_120_output_in_binary_messages_is_told_in_its_order_with_what_comes_as_text(self):
        def events(told):
            name = told["processId"].encode()
            head = lambda stream, seq: struct.pack(">BBHIQ", 1, stream, 0, len(name), seq) + name
            return [head(0, 1) + b"one\n", ("process/output", {"stream": "stdout", "chunk": base64.b64encode(b"two\n").decode()}),
                    head(0, 4) + b"four\n", ("process/exited", {"exitCode": 3, "sandboxDenied": False, "seq": 5}),
                    head(0, 3) + b"three\n", ("process/closed", {})]
        with ToldServer(events, greeting={"binaryOutput": 1}) as server:
            run = self.run_there(server.url, "true")
        self.assertEqual((run.returncode, run.stdout), (3, "one\ntwo\nthree\nfour\n"), run.stderr)

    def test_120_a_binary_message_that_cannot_be_read_ends_the_command_with_the_reason(self):
        def whole(told, version=1, flags=0, length=None):
            name = told["processId"].encode()
            return struct.pack(">BBHIQ", version, 0, flags, len(name) if length is None else length, 1) + name + b"lost?\n"
        rows = [({"binaryOutput": 1}, lambda told: whole(told, version=2), "version 2, and only 1 is known"),
                ({"binaryOutput": 1}, lambda told: whole(told, flags=1), "flags that are not known"),
                ({"binaryOutput": 1}, lambda told: whole(told, length=4_000_000_000), "ends before its process id"),
                ({"binaryOutput": 1}, lambda told: whole(told)[:10], "fewer than its head"),
                ({"binaryOutput": 1}, lambda told: b"", "is empty"),
                ({}, whole, "it had not said so"),
                ({"binaryOutput": 2}, whole, "binaryOutput")]
        for greeting, message, why in rows:
            with self.subTest(why=why), ToldServer(lambda told, message=message: [message(told)], greeting=greeting) as server:
                run = self.run_there(server.url, "true", options=["--timeout-ms", "60000"])
                self.assertEqual(run.returncode, 121, run.stderr)
                self.assertIn(why, run.stderr)
                self.assertNotIn("lost?", run.stdout)

    def test_96_an_exit_without_the_end_of_its_output_is_an_end_all_the_same(self):
        with ToldServer(lambda told: [("process/exited", {"exitCode": 3, "sandboxDenied": False})]) as server:
            begun = time.monotonic()
            run = self.run_there(server.url, "true", options=["--timeout-ms", "60000"])
            self.assertEqual(run.returncode, 3, run.stderr)
            self.assertLess(time.monotonic() - begun, 30)
            self.assertIn("process/terminate", server.heard)

    def test_120_an_exit_code_that_is_no_exit_status_does_not_become_a_success(self):
        for code in (256, -1073741819):
            with ToldServer(lambda told, code=code: [("process/exited", {"exitCode": code, "sandboxDenied": False}),
                                                     ("process/closed", {})]) as server:
                run = self.run_there(server.url, "true", options=["--json"])
                self.assertEqual(run.returncode, 255, run.stderr)
                self.assertEqual(json.loads(run.stdout)["attempts"][0]["exit_code"], code)

    def test_95_a_reader_that_is_slow_slows_the_command_there_and_costs_no_memory(self):
        size = 200_000_000
        with Server("--no-auth", env=self.env, cwd="/") as server:
            def start(limit):
                run = subprocess.Popen(self.command(server.url, "head", "-c", str(size), "/dev/zero",
                                                    options=["--timeout-ms", limit]),
                                       env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       stdin=subprocess.DEVNULL, bufsize=0)
                self.addCleanup(run.wait)
                self.addCleanup(run.kill)
                self.assertEqual(len(run.stdout.read(1)), 1)
                return run
            run = start("600000")
            time.sleep(3)
            with open(f"/proc/{run.pid}/status", encoding="utf-8") as status:
                resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
            if not os.environ.get("GATEHOUSE_SANITIZER"):
                self.assertLess(resident, 100 * 1024)
            out, err = run.communicate(timeout=120)
            self.assertEqual((run.returncode, len(out) + 1), (0, size), err)
            run = start("1500")  # its limit ends it though nobody reads
            time.sleep(3)
            out, err = run.communicate(timeout=GRACE_S)
            self.assertEqual(run.returncode, 124, err)
            self.assertLess(len(out), size // 2)

    def test_8_a_path_of_windows_passes_through_to_its_machine_and_is_refused_here(self):
        asked = []

        def events(told):
            asked.append(told)
            return [("process/exited", {"exitCode": 0, "sandboxDenied": False}), ("process/closed", {})]
        with ToldServer(events) as server:
            for folder in ("C:\\repo", "C:/repo", "file:///C:/repo"):
                run = subprocess.run([GATEHOUSE, "run", "--exec-server", server.url, "--exec-cwd", folder, "--profile",
                                      "workspace-write", "--", "whoami"], env=self.env, cwd=self.ws, capture_output=True,
                                     text=True, timeout=GRACE_S, stdin=subprocess.DEVNULL)
                self.assertEqual(run.returncode, 0, run.stderr)
                told = asked.pop()
                self.assertEqual(told["cwd"], "file:///C:/repo")
                self.assertEqual((told["sandbox"]["cwd"], told["sandbox"]["workspaceRoots"]),
                                 ("file:///C:/repo", ["file:///C:/repo"]))
        for folder in ("C:\\repo", "file:///C:/repo"):
            os.makedirs(os.path.join(self.ws, folder), exist_ok=True)  # a name that could be re-read
            run = subprocess.run([GATEHOUSE, "run", "--cwd", folder, "--", "touch", "here"], env=self.env, cwd=self.ws,
                                 capture_output=True, text=True, timeout=GRACE_S, stdin=subprocess.DEVNULL)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn("a path of Windows", run.stderr)

    def test_95_a_server_that_never_answers_does_not_hold_a_command_beyond_its_limit(self):
        with ToldServer(None) as server:
            begun = time.monotonic()
            run = self.run_there(server.url, "true", options=["--timeout-ms", "500"])
            self.assertEqual(run.returncode, 124, run.stderr)
            self.assertIn("Nothing was run", run.stderr)
            self.assertNotIn("What it had done", run.stderr)
            self.assertLess(time.monotonic() - begun, 20)

    def test_68_a_port_that_accepts_and_says_nothing_is_not_taken_for_a_slow_command(self):
        with socket.create_server(("127.0.0.1", 0)) as mute, ToldServer(None) as greets_not:
            for url in (f"ws://127.0.0.1:{mute.getsockname()[1]}", greets_not.url):
                begun = time.monotonic()
                run = self.run_there(url, "true", options=["--timeout-ms", "60000"])
                self.assertEqual(run.returncode, 121, run.stderr)
                self.assertIn("did not answer within", run.stderr)
                self.assertIn("Nothing was run", run.stderr)
                self.assertLess(time.monotonic() - begun, 30)

    def test_97_a_command_out_of_reach_is_not_said_to_have_ended(self):
        with Server("--no-auth", env=self.env, cwd="/") as server:
            proxy = CuttingProxy(server.port)
            self.addCleanup(proxy.close)
            runs = []
            for limit in ("3000", "600000"):
                run = subprocess.Popen(self.command(proxy.url, "sh", "-c", "echo up; sleep 600",
                                                    options=["--timeout-ms", limit]),
                                       env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       stdin=subprocess.DEVNULL)
                self.addCleanup(run.wait)
                self.addCleanup(run.kill)
                self.assertEqual(run.stdout.readline(), "up\n")
                runs.append(run)
            proxy.silent = True
            runs[1].send_signal(signal.SIGINT)
            for run, status in zip(runs, (124, 120)):
                _, err = run.communicate(timeout=120)
                self.assertEqual(run.returncode, status, err)
                self.assertIn("may still run there", err)
                self.assertNotRegex(err, "was ended|ended after")

    def test_120_a_command_that_was_ended_before_its_line_stood_was_started_all_the_same(self):
        with Server("--no-auth", env=self.env, cwd="/") as server:
            proxy = CuttingProxy(server.port)
            self.addCleanup(proxy.close)
            proxy.flows.clear()
            run = subprocess.Popen(self.command(proxy.url, "touch", "made"), env=self.env, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
            self.addCleanup(run.kill)
            deadline = time.monotonic() + GRACE_S
            while not proxy.lines and time.monotonic() < deadline:
                time.sleep(0.01)
            run.send_signal(signal.SIGINT)
            try:
                run.wait(1.5)  # less than the grace of a command that does not end
            except subprocess.TimeoutExpired:
                pass  # as it was: it waited for its line
            proxy.flows.set()
            _, err = run.communicate(timeout=GRACE_S)
            self.assertEqual(run.returncode, 120, err)
            self.assertIn("Nothing was run", err)
            self.assertEqual(self.run_there(server.url, "true").returncode, 0)
            self.assertFalse(os.path.exists(self.ws + "/made"))

    def test_120_a_start_that_failed_while_the_line_was_cut_was_waited_for_until_the_time_limit(self):
        def below(pid):
            try:
                with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                    found = [int(one) for one in file.read().split()]
            except OSError:
                return []
            return found + [far for one in found for far in below(one)]

        def is_helper(pid):  # before, its parent waits for it
            try:
                with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                    return file.read().startswith("gatehouse-sand")
            except OSError:
                return False

        with Server("--no-auth", env=self.env, cwd="/") as server:
            proxy = CuttingProxy(server.port)
            self.addCleanup(proxy.close)
            before = set(below(server.process.pid))
            run = subprocess.Popen(self.command(proxy.url, "/no/such/program"), env=self.env, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
            self.addCleanup(run.kill)
            held, deadline = [], time.monotonic() + GRACE_S
            while not held and time.monotonic() < deadline:
                held = [one for one in below(server.process.pid) if one not in before and is_helper(one)]
            for one in held:
                os.kill(one, signal.SIGSTOP)
            proxy.cut()
            time.sleep(0.5)  # the line stands again
            for one in held:
                os.kill(one, signal.SIGCONT)
            _, err = run.communicate(timeout=GRACE_S)
            self.assertEqual(run.returncode, 127, err)

    def test_120_a_server_that_was_far_ahead_of_a_long_line_was_called_a_liar(self):
        with Server("--no-auth", env=self.env, cwd="/") as server:
            proxy = CuttingProxy(server.port)
            self.addCleanup(proxy.close)
            run = subprocess.Popen(self.command(proxy.url, "sh", "-c", "head -c 300000000 /dev/zero; exit 3",
                                                options=["--timeout-ms", str(GRACE_S * 1000)]), env=self.env,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
            self.addCleanup(run.kill)
            self.assertTrue(run.stdout.read(1 << 20))
            proxy.late_s = 0.4
            proxy.cut()
            _, err = run.communicate(timeout=GRACE_S)
            self.assertEqual(run.returncode, 3, err)


if __name__ == "__main__":
    unittest.main()
