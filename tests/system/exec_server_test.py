#!/usr/bin/env python3
"""§120, §99a: the exec server itself: who gets in, what is refused, requests side by side, resumption, slow readers,
and that nothing outlives it."""
import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from exec_client import GATEHOUSE, Client, Refused, Server, sandbox, special, start, uri
from run_case import GRACE_S, SANITIZED


def processes(mark):
    """Pids whose environment holds the mark."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if f"GH_MARK={mark}".encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def wait_gone(mark, seconds=10):
    limit = time.monotonic() + seconds
    while processes(mark) and time.monotonic() < limit:
        time.sleep(0.02)
    return not processes(mark)


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="gatehouse-exec-", dir="/var/tmp")
        self.folder = os.path.realpath(self.temporary.name)
        self.mark = os.path.basename(self.folder)

    def tearDown(self):
        self.temporary.cleanup()

    def start(self, process_id, script, **more):
        more.setdefault("env", {"PATH": "/usr/bin:/bin", "GH_MARK": self.mark})
        return start(process_id, ["/bin/sh", "-c", script], self.folder, **more)

    def until(self, client, fits, seconds=30):
        """Messages up to the one that fits."""
        seen = []
        while True:
            message = client.pending.pop(0) if client.pending else client.receive(seconds)
            self.assertIsNotNone(message, "the server closed the connection")
            seen.append(message)
            if fits(message):
                return seen

    def output(self, messages):
        return b"".join(base64.b64decode(m["params"]["chunk"]) for m in messages
                        if m.get("method") == "process/output").decode()


def closed(process_id):
    return lambda m: m.get("method") == "process/closed" and m["params"]["processId"] == process_id


class Admission(Case):
    def test_120_token_origin_host_and_method(self):
        token_file = os.path.join(self.folder, "state", "token")
        with Server("--token-file", token_file) as server:
            with open(token_file, encoding="utf-8") as file:
                token = file.read().strip()
            self.assertEqual(os.stat(token_file).st_mode & 0o777, 0o600)
            good = {"Authorization": f"Bearer {token}"}
            self.assertEqual(Client(server, good).status, 101)
            for headers, status in [({}, 401), ({"Authorization": "Bearer nonsense-nonsense"}, 401),
                                    ({**good, "Origin": f"http://127.0.0.1:{server.port}"}, 403),
                                    ({**good, "Host": "evil.example"}, 403)]:
                with self.assertRaises(Refused) as refused:
                    Client(server, headers)
                self.assertEqual(refused.exception.args[0], status, headers)
            client = Client(server, {"Sec-WebSocket-Protocol": f"gatehouse.v1, gatehouse.token.{token}"})
            self.assertIn("sessionId", client.start_session()["result"])

    def test_120_no_auth_is_for_loopback_only(self):
        run = subprocess.run([GATEHOUSE, "exec-server", "--listen", "ws://0.0.0.0:0", "--no-auth"],
                             capture_output=True, text=True, timeout=GRACE_S)
        self.assertEqual(run.returncode, 2)
        self.assertIn("loopback", run.stderr)

    def test_wrong_usage_says_how_it_is_done(self):
        for options in (["--listen", "tcp://x"], ["--listen", "ws://127.0.0.1"], ["extra"], ["--no-auth=1"],
                        ["--session-ttl-ms", "x"], ["--no-auth", "--token-file", "/x"]):
            run = subprocess.run([GATEHOUSE, "exec-server", *options], capture_output=True, text=True, timeout=GRACE_S)
            self.assertEqual(run.returncode, 2, options)
            self.assertNotEqual(run.stderr, "", options)

    def test_D13_what_it_runs_cannot_read_its_token(self):
        for inside_state in (False, True):
            state = os.path.join(self.folder, f"state-{inside_state}")
            token_file = os.path.join(self.folder, "secret", "token") if not inside_state else os.path.join(
                state, "gatehouse", "tokens", "exec.token")
            options = [] if inside_state else ["--token-file", token_file]
            with Server(*options, env=dict(os.environ, XDG_STATE_HOME=state)) as server:
                with open(token_file, encoding="utf-8") as file:
                    token = file.read().strip()
                client = Client(server, {"Authorization": f"Bearer {token}"})
                client.start_session()
                client.call("process/start", **self.start("t", f"cat {token_file}; ls -R {os.path.dirname(token_file)}"))
                said = self.output(self.until(client, closed("t")))
                self.assertNotIn(token, said)
                read = client.call("fs/readFile", path=uri(token_file), sandbox=sandbox(self.folder))
                self.assertIn("error", read)

    def test_D13_a_sandbox_without_file_limits_hides_the_token_too(self):
        state = os.path.join(self.folder, "state")
        for inside_state in (False, True):
            token_file = os.path.join(state, "gatehouse", "tokens", "exec.token") if inside_state else os.path.join(
                self.folder, "secret", "token")
            options = [] if inside_state else ["--token-file", token_file]
            with Server(*options, env=dict(os.environ, XDG_STATE_HOME=state)) as server:
                with open(token_file, encoding="utf-8") as file:
                    token = file.read().strip()
                client = Client(server, {"Authorization": f"Bearer {token}"})
                client.start_session()
                for i, network in enumerate(("restricted", "enabled")):
                    wide = {**sandbox(self.folder), "permissions": {
                        "type": "managed", "file_system": {"type": "unrestricted"}, "network": network}}
                    around = os.path.dirname(token_file)
                    script = (f"cat {token_file}; mv {around} {around}-moved; cp -r {around} {self.folder}/copy; "
                              f"cat {self.folder}/copy/token {self.folder}/copy/exec.token; "
                              f"ln {token_file} {self.folder}/link; cat {self.folder}/link; "
                              f"echo x >> {state}/gatehouse/new; mkdir {self.folder}/.git; echo end")
                    started = client.call("process/start", **self.start(f"w{i}", script, boundary=wide))
                    self.assertIn("result", started)
                    said = self.output(self.until(client, closed(f"w{i}")))
                    self.assertNotIn(token, said)
                    self.assertIn("end\n", said)
                    self.assertTrue(os.path.exists(token_file))
                    self.assertTrue(os.path.isdir(f"{self.folder}/.git"))  # it is unrestricted otherwise
                    self.assertFalse(os.path.exists(f"{state}/gatehouse/new"))
                    for method, params in (("fs/readFile", {"path": uri(token_file)}),
                                           ("fs/copy", {"sourcePath": uri(token_file), "recursive": False,
                                                        "destinationPath": uri(self.folder + "/c")})):
                        self.assertIn("error", client.call(method, sandbox=wide, **params), method)
                    landlock = {**wide, "useLegacyLandlock": True}
                    answer = client.call("process/start", **self.start(f"l{i}", f"cat {token_file}", boundary=landlock))
                    self.assertEqual(answer["error"]["data"]["kind"], "sandboxUnavailable")

    def test_120_a_token_that_others_can_read_is_refused(self):
        token_file = os.path.join(self.folder, "token")
        with open(token_file, "w", encoding="utf-8") as file:
            file.write("0123456789abcdef0123456789abcdef\n")
        os.chmod(token_file, 0o644)
        run = subprocess.run([GATEHOUSE, "exec-server", "--token-file", token_file], capture_output=True, text=True,
                             timeout=GRACE_S)
        self.assertEqual(run.returncode, 2)
        self.assertIn(token_file, run.stderr)

    def test_120_unix_socket(self):
        path = os.path.join(self.folder, "socket")
        with Server("--no-auth", listen=f"unix://{path}") as server:
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            self.assertIn("sessionId", Client(server).start_session()["result"])
        self.assertFalse(os.path.exists(path))


class Refusals(Case):
    def test_120_nothing_runs_and_no_file_is_touched_without_a_sandbox(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            target = os.path.join(self.folder, "touched")
            disabled = {**sandbox(self.folder), "permissions": {"type": "disabled"}}
            calls = [("process/start", self.start("a", f"touch {target}", boundary=False)),
                     ("process/start", self.start("b", f"touch {target}", boundary=disabled)),
                     ("fs/writeFile", {"path": uri(target), "dataBase64": "eA=="}),
                     ("fs/writeFile", {"path": uri(target), "dataBase64": "eA==", "sandbox": None}),
                     ("fs/readFile", {"path": "file:///etc/hostname", "sandbox": disabled}),
                     ("fs/open", {"handleId": "h", "path": uri(target), "mode": "replace", "sandbox": None})]
            for method, params in calls:
                answer = client.call(method, **params)
                self.assertEqual(answer["error"]["data"]["kind"], "sandboxRequired", method)
            self.assertFalse(os.path.exists(target))

    def test_120_what_is_not_understood_is_refused(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            odd = sandbox(self.folder)
            odd["permissions"]["file_system"]["entries"].append(special("everything", "write"))
            wrong = sandbox(self.folder)
            wrong["permissions"]["network"] = "some"
            windows = sandbox(self.folder, extra=[{"path": {"type": "path", "path": "file:///C:/x"}, "access": "deny"}])
            for boundary in (wrong, windows, {"cwd": uri(self.folder)}, "yes", 1):
                answer = client.call("process/start", **self.start("x", "true", boundary=boundary))
                self.assertEqual(answer["error"]["code"], -32602, boundary)
            for more in ({"argv": "true"}, {"argv": [1]}, {"cwd": "/tmp"}, {"tty": "yes"}, {"env": {"A": 1}},
                         {"env": {"A=B": "x"}}, {"arg0": "other"}, {"processId": "x" * 1025}):
                answer = client.call("process/start", **{**self.start("x", "true"), **more})
                self.assertEqual(answer["error"]["code"], -32602, more)
            self.assertEqual(client.call("no/method")["error"]["code"], -32601)

    def test_120_a_file_call_sees_what_a_command_would(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            secret = os.path.join(self.folder, "secret")
            with open(secret, "w", encoding="utf-8") as file:
                file.write("x")
            deny = {"path": {"type": "path", "path": uri(secret)}, "access": "deny"}
            boundary = sandbox(self.folder, extra=[deny])
            self.assertIn("error", client.call("fs/readFile", path=uri(secret), sandbox=boundary))
            self.assertIn("error", client.call("fs/writeFile", path="file:///etc/gatehouse-probe", dataBase64="eA==",
                                               sandbox=boundary))
            git = uri(self.folder + "/.git")
            self.assertIn("error", client.call("fs/createDirectory", path=git, recursive=True, sandbox=boundary))
            self.assertEqual(client.call("fs/writeFile", path=uri(self.folder + "/new"), dataBase64="eA==",
                                         sandbox=boundary)["result"], {})


class Processes(Case):
    def test_120_requests_of_one_connection_run_at_the_same_time(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            client.call("process/start", **self.start("slow", "sleep 60"))
            client.send({"id": "long", "method": "process/read", "params": {"processId": "slow", "waitMs": 60000}})
            begun = time.monotonic()
            self.assertEqual(client.call("environment/status")["result"]["status"], "ready")
            self.assertLess(time.monotonic() - begun, 20)
            client.call("process/terminate", processId="slow")
            answer = self.until(client, lambda m: m.get("id") == "long")[-1]
            self.assertTrue(answer["result"]["exited"])

    def test_120_a_folder_is_not_copied_into_itself(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            source = os.path.join(self.folder, "source")
            os.makedirs(source + "/below")
            os.symlink(source, self.folder + "/link")
            for destination in (source, source + "/new", source + "/below/new", self.folder + "/link/new"):
                answer = client.call("fs/copy", sourcePath=uri(source), destinationPath=uri(destination), recursive=True,
                                     sandbox=sandbox(self.folder))
                self.assertEqual(answer["error"]["code"], -32600, destination)
            self.assertEqual(sum(len(dirs) + len(files) for _, dirs, files in os.walk(source)), 1)
            answer = client.call("fs/copy", sourcePath=uri(source), destinationPath=uri(source + "-2"), recursive=True,
                                 sandbox=sandbox(self.folder))
            self.assertEqual(answer.get("result"), {})
            self.assertTrue(os.path.isdir(source + "-2/below"))

    def test_120_a_write_id_writes_once(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            client.call("process/start", **self.start("p", "cat", pipeStdin=True))
            for _ in range(3):
                answer = client.call("process/write", processId="p", chunk="YQo=", writeId="w1")
                self.assertEqual(answer["result"]["status"], "accepted")
            client.call("process/write", processId="p", chunk="Ygo=", writeId="w2")
            seen = []
            while "b" not in self.output(seen):
                seen += self.until(client, lambda m: m.get("method") == "process/output")
            self.assertEqual(self.output(seen), "a\nb\n")

    def test_120_a_write_id_writes_once_also_after_thousands_of_others(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            client.call("process/start", **self.start("p", "cat", pipeStdin=True))
            for i in range(4100):
                client.send({"id": f"w{i}", "method": "process/write",
                             "params": {"processId": "p", "chunk": "Lg==", "writeId": f"w{i}"}})
            for _ in range(3):
                answer = client.call("process/write", processId="p", chunk="YQ==", writeId="after")
                self.assertEqual(answer["result"]["status"], "accepted")
            client.call("process/write", processId="p", chunk="Cg==", writeId="last")
            seen = []
            while not self.output(seen).endswith("\n"):
                seen += self.until(client, lambda m: m.get("method") == "process/output")
            self.assertEqual(self.output(seen), "." * 4100 + "a\n")

    def test_120_standard_input_that_is_full_is_not_called_closed(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            os.mkfifo(os.path.join(self.folder, "go"))
            client.call("process/start", **self.start("q", "read go < go; head -c 1200000 | wc -c", pipeStdin=True))
            chunk = base64.b64encode(b"x" * 600_000).decode()
            first = client.call("process/write", processId="q", chunk=chunk, writeId="1")
            self.assertEqual(first["result"]["status"], "accepted")
            full = client.call("process/write", processId="q", chunk=chunk, writeId="2")
            self.assertEqual((full["error"]["code"], full["error"]["data"]["kind"]), (-32001, "overloaded"))
            with open(os.path.join(self.folder, "go"), "w", encoding="utf-8") as go:
                go.write("go\n")
            while "error" in (again := client.call("process/write", processId="q", chunk=chunk, writeId="2")):
                self.assertEqual(again["error"]["code"], -32001)
            self.assertEqual(again["result"]["status"], "accepted")
            self.assertEqual(self.output(self.until(client, closed("q"))), "1200000\n")
            too_long = base64.b64encode(b"x" * 1_100_000).decode()
            client.call("process/start", **self.start("r", "exec sleep 60", pipeStdin=True))
            answer = client.call("process/write", processId="r", chunk=too_long, writeId="1")
            self.assertEqual(answer["error"]["code"], -32602)

    def test_120_a_process_that_is_terminated_before_it_began_never_runs(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            for i in range(8):
                client.send({"id": f"s{i}", "method": "process/start",
                             "params": self.start(f"p{i}", f"touch {self.folder}/ran-{i}; exec sleep 60", tty=i % 2 == 0)})
                client.send({"id": f"t{i}", "method": "process/terminate", "params": {"processId": f"p{i}"}})
            answers, ended = {}, set()
            while len(answers) < 16 or len(ended) < sum("result" in answers[f"s{i}"] for i in range(8)):
                message = client.receive(30)
                if "id" in message:
                    answers[message["id"]] = message
                elif message["method"] == "process/closed":
                    ended.add(message["params"]["processId"])
            for i in range(8):
                self.assertEqual(answers[f"t{i}"]["result"], {"running": True})
            self.assertTrue(wait_gone(self.mark))

    def test_120_an_interrupt_that_comes_before_the_start_is_not_lost(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            client.send({"id": "s", "method": "process/start", "params": self.start("p", "exec sleep 60")})
            client.send({"id": "i", "method": "process/signal", "params": {"processId": "p", "signal": "interrupt"}})
            exited = self.until(client, lambda m: m.get("method") == "process/exited")[-1]
            self.assertEqual(exited["params"]["exitCode"], 130)

    def test_120_resumption_50_cuts_lose_and_double_nothing(self):
        for binary in (False, True):
            with self.subTest(binary=binary):
                self.cut_50_times(binary)

    def cut_50_times(self, binary):
        with Server("--no-auth") as server:
            client = Client(server)
            session = client.start_session(binary=binary)["result"]["sessionId"]
            client.call("process/start", **self.start("c", "i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo $i; "
                                                           "sleep 0.01; done; exit 7"))
            chunks, last, cuts, exit_code = {}, 0, 0, None
            deadline = time.monotonic() + 120
            finished = False
            while not finished:
                self.assertLess(time.monotonic(), deadline)
                cut_at = time.monotonic() + 0.05
                while time.monotonic() < cut_at or cuts >= 50:
                    try:
                        message = client.pending.pop(0) if client.pending else client.receive(0.05)
                    except TimeoutError:
                        continue
                    params = message.get("params", {})
                    if params.get("processId") != "c":
                        continue
                    last = max(last, params["seq"])
                    if message["method"] == "process/output":
                        self.assertEqual(message.get("binary", False), binary)
                        self.assertIn(chunks.setdefault(params["seq"], params["chunk"]), [params["chunk"]])
                    if message["method"] == "process/exited":
                        exit_code = params["exitCode"]
                    finished = message["method"] == "process/closed"
                    if finished:
                        break
                if finished:
                    break
                client.drop()
                cuts += 1
                client = Client(server)
                while "error" in (answer := client.start_session(session, binary)):
                    self.assertEqual(answer["error"]["code"], -32010)  # the old socket is noticed soon
                    client = Client(server)
                answer = client.call("process/read", processId="c", afterSeq=last, waitMs=0)["result"]
                for chunk in answer["chunks"]:
                    chunks.setdefault(chunk["seq"], chunk["chunk"])
                    last = max(last, chunk["seq"])
                exit_code = answer["exitCode"] if answer["exited"] else exit_code
                finished = answer["closed"]
            text = b"".join(base64.b64decode(chunks[seq]) for seq in sorted(chunks)).decode()
            self.assertEqual(text, "".join(f"{i}\n" for i in range(1, 401)))
            self.assertEqual(sorted(chunks), list(range(1, len(chunks) + 1)))
            self.assertEqual(exit_code, 7)
            print(f"{cuts} cuts")

    def test_120_a_session_without_a_client_ends_with_all_it_runs(self):
        with Server("--no-auth", "--session-ttl-ms", "300") as server:
            client = Client(server)
            session = client.start_session()["result"]["sessionId"]
            client.call("process/start", **self.start("p", "setsid sleep 611 & exec sleep 612"))
            self.assertTrue(processes(self.mark))
            client.drop()
            self.assertTrue(wait_gone(self.mark))
            time.sleep(0.1)
            self.assertEqual(Client(server).start_session(session)["error"]["code"], -32600)

    def test_120_a_slow_reader_slows_the_command_and_costs_no_memory(self):
        for binary in (False, True):
            with self.subTest(binary=binary):
                self.read_slowly(binary)

    def read_slowly(self, binary):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session(binary=binary)
            client.call("process/start", **self.start("p", "head -c 60000000 /dev/zero; echo end >&2"))
            time.sleep(3)
            with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as status:
                resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
            if not SANITIZED:
                self.assertLess(resident, 100 * 1024)
            seen, total = 0, 0
            while True:
                message = client.pending.pop(0) if client.pending else client.receive(60)
                if message.get("method") == "process/output":
                    total += len(base64.b64decode(message["params"]["chunk"]))
                    self.assertEqual(message["params"]["seq"], seen + 1)
                    seen += 1
                elif message.get("method") == "process/closed":
                    break
            self.assertEqual(total, 60_000_004)


class BinaryOutput(Case):
    """Output as binary messages, for a client that asks for it."""
    SCRIPT = ("printf 'first\\377\\000\\303'; printf '\\244 err\\n' >&2; sleep 0.05; "
              "head -c 3000000 /dev/urandom | tee {copy}; printf 'last \\303'; exit 5")

    def say(self, client, name):
        copy = os.path.join(self.folder, name)
        self.assertIn("result", client.call("process/start", **self.start(name, self.SCRIPT.format(copy=copy))))
        seen = [m for m in self.until(client, closed(name)) if m.get("params", {}).get("processId") == name]
        self.assertEqual([m["params"]["seq"] for m in seen], list(range(1, len(seen) + 1)))
        self.assertEqual([m["method"] for m in seen[-2:]], ["process/exited", "process/closed"])
        self.assertEqual(seen[-2]["params"]["exitCode"], 5)
        said = {}
        for message in seen[:-2]:
            one = said.setdefault(message["params"]["stream"], bytearray())
            one += base64.b64decode(message["params"]["chunk"])
        return seen, said

    def test_120_both_forms_of_output_give_the_same_bytes_and_numbers(self):
        with Server("--no-auth") as server:
            for binary in (False, True):
                client = Client(server)
                self.assertEqual(client.start_session(binary=binary)["result"].get("binaryOutput"), 1 if binary else None)
                name = f"p{binary}"
                seen, said = self.say(client, name)
                with open(os.path.join(self.folder, name), "rb") as file:
                    random = file.read()
                self.assertEqual(len(random), 3_000_000)
                self.assertEqual(said, {"stdout": b"first\377\0\303" + random + b"last \303", "stderr": b"\244 err\n"})
                for message in seen:
                    output = message["method"] == "process/output"
                    self.assertEqual(message.get("binary", False), binary and output)
                    if output:
                        size = len(base64.b64decode(message["params"]["chunk"]))
                        self.assertLessEqual(size, 256 * 1024 if binary else 8192)
                self.assertEqual(max(len(m["params"]["chunk"]) for m in seen[:-2]) > 16_000, binary)
                client.drop()

    def test_120_a_terminal_speaks_in_binary_messages_too(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session(binary=True)
            client.call("process/start", **self.start("t", "echo one; sleep 0.1; seq 20000; stty size", tty=True))
            seen = self.until(client, closed("t"))
            outputs = [m for m in seen if m.get("method") == "process/output"]
            self.assertTrue(all(m["binary"] and m["params"]["stream"] == "pty" for m in outputs))
            self.assertEqual(self.output(seen), "one\r\n" + "".join(f"{i}\r\n" for i in range(1, 20001)) + "24 80\r\n")
            self.assertEqual(base64.b64decode(outputs[0]["params"]["chunk"]), b"one\r\n")

    def test_120_a_version_of_binary_output_that_is_not_known_is_refused_and_the_next_try_is_taken(self):
        with Server("--no-auth") as server:
            client = Client(server)
            for wrong in (2, 0, -1, "1", True, [1]):
                answer = client.call("initialize", clientName="t", binaryOutput=wrong)
                self.assertEqual(answer["error"]["code"], -32602, wrong)
                self.assertIn("binaryOutput", answer["error"]["message"])
            self.assertEqual(client.start_session(binary=True)["result"]["binaryOutput"], 1)

    def test_120_a_session_goes_on_in_the_form_that_its_next_client_asks_for(self):
        with Server("--no-auth") as server:
            client = Client(server)
            session = client.start_session(binary=True)["result"]["sessionId"]
            client.call("process/start", **self.start("p", "head -c 300000 /dev/zero; read line; head -c 300000 /dev/zero; "
                                                           "echo $line", pipeStdin=True))
            def outputs(wanted, total):
                while len(b"".join(said.values())) < total:
                    message = client.pending.pop(0) if client.pending else client.receive(30)
                    if message.get("method") == "process/output":
                        self.assertEqual(message.get("binary", False), wanted)
                        self.assertNotIn(message["params"]["seq"], said)
                        said[message["params"]["seq"]] = base64.b64decode(message["params"]["chunk"])
            said = {}
            outputs(True, 300_000)
            client.drop()
            client = Client(server)
            while "error" in client.start_session(session):
                client = Client(server)
            again = client.call("process/read", processId="p", afterSeq=0, waitMs=0)["result"]
            self.assertEqual({c["seq"]: base64.b64decode(c["chunk"]) for c in again["chunks"]}, said)
            client.call("process/write", processId="p", writeId="w", chunk=base64.b64encode(b"end\n").decode())
            before = len(said)
            outputs(False, 600_004)
            self.assertEqual(sorted(said), list(range(1, len(said) + 1)))
            self.assertTrue(all(len(said[seq]) <= 8192 for seq in range(before + 1, len(said) + 1)))
            self.assertEqual(b"".join(said[seq] for seq in sorted(said)), bytes(600_000) + b"end\n")

    def test_120_what_nobody_reads_is_kept_newest_first_and_counted_to_the_byte(self):
        size = 3_000_000
        with Server("--no-auth") as server:
            client = Client(server)
            session = client.start_session(binary=True)["result"]["sessionId"]
            client.call("process/start", **self.start("p", f"read line; head -c {size} /dev/zero", pipeStdin=True))
            client.send({"id": 77, "method": "process/write", "params": {"processId": "p", "writeId": "w",
                                                                          "chunk": base64.b64encode(b"go\n").decode()}})
            client.drop()
            client = Client(server)
            while "error" in client.start_session(session, binary=True):
                client = Client(server)
            limit = time.monotonic() + 30
            while not (answer := client.call("process/read", processId="p", afterSeq=0, waitMs=500)["result"])["closed"]:
                self.assertLess(time.monotonic(), limit)
            kept = sum(len(base64.b64decode(c["chunk"])) for c in answer["chunks"])
            self.assertEqual(kept + answer["droppedBytes"], size)
            self.assertGreater(kept, 1024 * 1024 - 256 * 1024)
            self.assertLessEqual(kept, 1024 * 1024)


class Endings(Case):
    def test_99a_kill_9_of_the_server_ends_everything_it_started(self):
        for boundary in (True, False):
            with Server("--no-auth", "--allow-unsandboxed") as server:
                client = Client(server)
                client.start_session()
                scripts = ["exec sleep 613", "setsid sleep 614 & wait", "trap '' TERM HUP; sleep 615; sleep 616",
                           "(setsid sh -c 'nohup sleep 617 &' &); sleep 618"]
                for number, script in enumerate(scripts):
                    for tty in (False, True):
                        answer = client.call("process/start", **self.start(f"p{number}{tty}", script, tty=tty,
                                                                           boundary=boundary))
                        self.assertIn("result", answer)
                self.assertGreaterEqual(len(processes(self.mark)), len(scripts))
                os.kill(server.process.pid, signal.SIGKILL)
                server.process.wait()
                self.assertTrue(wait_gone(self.mark), f"left: {processes(self.mark)}")
                server.process.stdout.close()

    def test_99a_br_134_sigterm_ends_everything_too(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            client.call("process/start", **self.start("p", "trap '' TERM; setsid sleep 619 & wait; sleep 620"))
            self.assertEqual(server.stop(), 0)
            self.assertTrue(wait_gone(self.mark))

    def test_br_138_a_thousand_processes_leave_no_descriptor(self):
        with Server("--no-auth") as server:
            client = Client(server)
            client.start_session()
            count = lambda: len(os.listdir(f"/proc/{server.process.pid}/fd"))
            before = count()
            for number in range(60):
                client.call("process/start", **self.start(f"p{number}", "true", tty=number % 2 == 0))
                self.until(client, closed(f"p{number}"))
            time.sleep(0.2)
            self.assertLessEqual(count(), before)


class Stdio(Case):
    def test_120_lines_over_standard_input_and_output(self):
        server = subprocess.Popen([GATEHOUSE, "exec-server", "--listen", "stdio"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        def send(message):
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
        send({"id": 1, "method": "initialize", "params": {"clientName": "t", "binaryOutput": 1}})
        greeting = json.loads(server.stdout.readline())["result"]
        self.assertIn("sessionId", greeting)
        self.assertNotIn("binaryOutput", greeting)  # lines hold text only: its output is JSON as always
        send({"method": "initialized"})
        server.stdin.write("{bad\n")
        server.stdin.flush()
        self.assertEqual(json.loads(server.stdout.readline())["id"], -1)
        send({"id": 2, "method": "process/start", "params": self.start("p", "echo hi; exit 4")})
        lines = [json.loads(server.stdout.readline()) for _ in range(4)]
        self.assertEqual([m.get("method") for m in lines],
                         [None, "process/output", "process/exited", "process/closed"])
        self.assertEqual(lines[2]["params"]["exitCode"], 4)
        send({"id": 3, "method": "process/start", "params": self.start("q", "sleep 621")})
        json.loads(server.stdout.readline())
        server.stdin.close()
        self.assertEqual(server.wait(20), 0)
        server.stdout.close()
        self.assertTrue(wait_gone(self.mark))


if __name__ == "__main__":
    if "-v" not in sys.argv:
        sys.argv.append("-v")
    unittest.main(warnings="ignore")
