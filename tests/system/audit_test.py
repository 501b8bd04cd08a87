#!/usr/bin/env python3
"""The audit (§205) of the real programs: what happens is written before it happens, and survives kill -9."""
import datetime
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

import exec_client

GATEHOUSE = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")


class Audit(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gatehouse-audit-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, self.base, True)
        self.ws = os.path.join(self.base, "ws")
        os.makedirs(self.ws)
        os.makedirs(self.base + "/home")
        self.state = self.base + "/state"
        self.database = self.state + "/gatehouse/audit/audit.db"
        self.env = dict(os.environ, HOME=self.base, GATEHOUSE_HOME=self.base + "/home", XDG_STATE_HOME=self.state)

    def gatehouse(self, *words, **more):
        return subprocess.run([GATEHOUSE, *words], env=self.env, capture_output=True, text=True, timeout=120, check=False, **more)

    def run_shell(self, command, *options):
        return self.gatehouse("run", "--cwd", self.ws, "--profile", "workspace-write", *options, "--shell", command)

    def entries(self, *options):
        done = self.gatehouse("audit", "export", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def verify(self, *options):
        return self.gatehouse("audit", "verify", *options)

    def config(self, text):
        with open(self.base + "/home/config.toml", "w", encoding="utf-8") as file:
            file.write(text)

    def test_a_call_leaves_all_its_steps_in_order(self):
        self.assertEqual(self.run_shell("echo hello").returncode, 0)
        found = self.entries()
        self.assertEqual([e["kind"] for e in found], ["session", "request", "decision", "attempt", "attempt_end", "end"])
        self.assertEqual([e["seq"] for e in found], [1, 2, 3, 4, 5, 6])
        by_kind = {e["kind"]: e["body"] for e in found}
        self.assertEqual(by_kind["session"]["program"], "run")
        self.assertEqual(by_kind["request"]["argv"][-1], "echo hello")
        self.assertEqual(by_kind["decision"]["decision"]["requirement"]["kind"], "skip")
        self.assertEqual((by_kind["attempt"]["sandbox"], by_kind["attempt"]["network"]), ("linux", "isolated"))
        self.assertEqual(by_kind["attempt_end"]["exit_code"], 0)
        self.assertEqual((by_kind["end"]["ending"], by_kind["end"]["exit_status"]), ("completed", 0))
        self.assertEqual(self.verify().returncode, 0)

    def test_the_judging_rule_a_refusal_and_a_denial_are_told(self):
        os.makedirs(self.base + "/home/rules")
        with open(self.base + "/home/rules/mine.rules", "w", encoding="utf-8") as file:
            file.write('prefix_rule(pattern=["deploy"], decision="forbidden", justification="not from here")\n')
        self.assertEqual(self.run_shell("deploy now").returncode, 125)
        decision = [e for e in self.entries() if e["kind"] == "decision"][0]["body"]["decision"]
        self.assertEqual(decision["segments"][0]["rule"]["justification"], "not from here")
        self.assertEqual([e["body"]["ending"] for e in self.entries("--kind", "end")], ["refused"])
        self.assertEqual(self.entries("--kind", "attempt"), [])
        self.run_shell(f"echo x > {self.base}/outside")
        denial = self.entries("--kind", "denial")[0]["body"]
        self.assertEqual((denial["kind"], denial["path"]), ("file_write", self.base + "/outside"))
        # A question that nobody can answer is an entry too, and so is its answer.
        self.run_shell("rm -rf x")
        kinds = [e["kind"] for e in self.entries()]
        self.assertIn("question", kinds)
        review = self.entries("--kind", "review")[-1]["body"]
        self.assertEqual((review["decision"], review["reviewer"]), ("denied", "none"))

    def test_no_secret_is_written(self):
        secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
        self.env["MY_API_KEY"] = "swordfish99"  # of the environment: wherever it stands
        self.run_shell(f"GH_TOKEN=hunter22 true; echo {secret} xswordfish99x; true --password 'open sesame'", "--justification", f"needs {secret}")
        with open(self.database, "rb") as file:
            bytes_ = file.read()
        for wal in (self.database + "-wal",):
            if os.path.exists(wal):
                with open(wal, "rb") as file:
                    bytes_ += file.read()
        self.assertTrue(b"[redacted]" in bytes_)
        for word in (secret, "hunter22", "open sesame", "swordfish99"):
            self.assertFalse(word.encode() in bytes_, word)

    def test_list_show_and_verify(self):
        self.run_shell("echo one")
        call = self.entries("--kind", "end")[0]["call"]
        listed = self.gatehouse("audit", "list", "--limit", "2")
        self.assertEqual(len(listed.stdout.splitlines()), 2)
        shown = self.gatehouse("audit", "show", call)
        self.assertIn("entry 2: request", shown.stdout)
        self.assertIn("echo one", self.gatehouse("audit", "show", "2").stdout)
        self.assertEqual(self.gatehouse("audit", "show", "99").returncode, 1)
        unknown = self.gatehouse("audit", "list", "--kind", "no")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("the kinds are session, request, decision", unknown.stderr)
        self.assertEqual(self.entries("--since", "2999-01-01"), [])
        head = json.loads(self.verify("--json").stdout)["head"]
        self.run_shell("echo two")
        self.assertEqual(self.verify("--known", head).returncode, 0)
        with sqlite3.connect(self.database) as db:
            db.execute("UPDATE entry SET body = replace(body, 'echo one', 'echo two') WHERE seq = 2")
        db.close()
        told = self.verify()
        self.assertEqual(told.returncode, 1)
        self.assertIn("entry 2", told.stdout)

    def test_205_why_told_of_several_sessions_as_if_they_were_one(self):
        calls = self.base + "/calls.jsonl"
        for command in ("true", "rm -rf x"):
            with open(calls, "w", encoding="utf-8") as file:
                file.write(json.dumps({"callId": "c", "arguments": {"command": command}}) + "\n")
            self.gatehouse("batch", "--cwd", self.ws, "--profile", "workspace-write", calls)
            told = self.gatehouse("audit", "why", "c").stdout
            sessions = [e["session"] for e in self.entries("--kind", "decision")]
            self.assertEqual([line for line in told.splitlines() if line.startswith("session ")],
                             [f"session {one}:" for one in sessions] if len(sessions) > 1 else [])
        self.assertIn("rm -rf x", told.split(f"session {sessions[1]}:")[1])

    def test_205_a_listed_line_was_cut_inside_a_character(self):
        for before in ("", "x", "xx"):
            self.run_shell("echo " + before + "€" * 200)
        self.assertIn("€…\n", self.gatehouse("audit", "list").stdout)  # read as strict UTF-8

    def test_others_compute_the_chain_of_an_export(self):
        self.run_shell("echo 'a\tä' \"\u2028\"")
        self.run_shell("rm -rf x")
        before = bytes(32)
        for line in self.gatehouse("audit", "export").stdout.rstrip("\n").split("\n"):
            entry, body = json.loads(line), line[line.index('"body":') + len('"body":'):-1]
            time_us = datetime.datetime.fromisoformat(entry["time"].replace("Z", "+00:00")) - datetime.datetime.fromtimestamp(0, datetime.timezone.utc)
            state = hashlib.sha256(before)
            for field in (entry["seq"], time_us // datetime.timedelta(microseconds=1), entry["kind"], entry["session"], entry.get("turn", ""),
                          entry.get("call", ""), entry.get("attempt", 0), body):
                data = str(field).encode()
                state.update(b"%d:%s" % (len(data), data))
            before = state.digest()
            self.assertEqual(before.hex(), entry["hash"], line)

    def test_other_rules_are_tried_on_what_was_recorded(self):
        self.run_shell("echo kept")
        self.run_shell("ls")
        rules = self.base + "/new.rules"
        with open(rules, "w", encoding="utf-8") as file:
            file.write('prefix_rule(pattern=["ls"], decision="prompt")\n')
        done = self.gatehouse("policy", "replay", "--rules", rules, "--audit")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((lines[0]["before"], lines[0]["after"]), ("skip", "needs_approval"))
        self.assertEqual(lines[-1], {"records": 2, "changed": 1, "unreadable": 0, "skipped": 0})
        exported = self.gatehouse("audit", "export", "--decisions").stdout
        again = self.gatehouse("policy", "replay", "--rules", rules, input=exported)
        self.assertEqual(json.loads(again.stdout.splitlines()[-1])["changed"], 1)

    def test_kill_9_nothing_ran_that_is_not_written(self):
        items = 40
        calls = self.base + "/calls.jsonl"
        with open(calls, "w", encoding="utf-8") as file:
            for n in range(items):
                file.write(json.dumps({"callId": f"c{n}", "arguments": {"command": f"echo {n} >> log; sleep 0.02"}}) + "\n")
        argv = [GATEHOUSE, "batch", "--cwd", self.ws, "--profile", "workspace-write", "-j", "3", "--journal", self.base + "/journal", calls]
        seed = random.randrange(1 << 30)
        chance = random.Random(seed)
        for _ in range(4):
            with subprocess.Popen(argv, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
                time.sleep(chance.uniform(0.1, 0.8))  # the moment of the kill
                run.send_signal(signal.SIGKILL)
            checked = self.verify()
            if "there is no audit" not in checked.stderr:  # the kill came before the first entry
                self.assertEqual(checked.returncode, 0, f"seed {seed}: {checked.stdout}{checked.stderr}")
            if os.path.exists(self.ws + "/log"):
                with open(self.ws + "/log", encoding="ascii") as file:
                    ran = {f"c{n}" for n in file.read().split()}
                self.assertLessEqual(ran, {e["call"] for e in self.entries("--kind", "attempt")}, f"seed {seed}")
        done = subprocess.run(argv, env=self.env, capture_output=True, text=True, timeout=120, check=False)
        results = {r["callId"]: r["result"]["status"] for r in map(json.loads, done.stdout.splitlines())}
        self.assertEqual(len(results), items)
        ended = [e["call"] for e in self.entries("--kind", "end")]
        for call, status in results.items():
            if status == "completed":  # told only after it was written, once
                self.assertEqual(ended.count(call), 1, f"seed {seed}")
        self.assertEqual(self.verify().returncode, 0)

    def test_without_an_audit_nothing_runs_and_the_reason_is_told(self):
        with open(self.state, "w", encoding="ascii"):
            pass  # a file where the folder should be
        done = self.run_shell("touch ran")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot make the folder", done.stderr)
        self.assertFalse(os.path.exists(self.ws + "/ran"))

    def test_a_server_without_a_place_for_its_audit_says_what_to_do_and_does_not_start(self):
        with open(self.state, "w", encoding="ascii"):
            pass
        for words in (["exec-server", "--no-auth"], ["mcp"], ["batch", "-"]):
            with self.subTest(words=words):
                done = self.gatehouse(*words, stdin=subprocess.DEVNULL)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn("nothing runs that cannot be recorded", done.stderr)
                self.assertIn("XDG_STATE_HOME", done.stderr)

    def test_only_the_user_can_choose_to_go_on_without_one(self):
        with open(self.state, "w", encoding="ascii"):
            pass
        os.makedirs(self.ws + "/.gatehouse")
        with open(self.ws + "/.gatehouse/config.toml", "w", encoding="utf-8") as file:
            file.write('[audit]\non_failure = "warn"\nkeep_days = 1\n')
        with open(self.base + "/home/trust.toml", "w", encoding="utf-8") as file:
            file.write(f'trusted = ["{self.ws}"]\n')
        done = self.run_shell("touch ran")
        self.assertEqual(done.returncode, 2)
        self.assertFalse(os.path.exists(self.ws + "/ran"))
        self.config('[audit]\non_failure = "warn"\n')
        done = self.run_shell("touch ran")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not recorded", done.stderr)
        self.assertIn("only the user's own configuration sets it", done.stderr)
        self.assertTrue(os.path.exists(self.ws + "/ran"))

    def test_a_damaged_audit_is_told_and_kept(self):
        os.makedirs(os.path.dirname(self.database))
        with open(self.database, "wb") as file:
            file.write(b"SQLite format 3\0" + os.urandom(5000))
        with open(self.database, "rb") as file:
            before = file.read()
        done = self.run_shell("touch ran")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is damaged", done.stderr)
        self.assertFalse(os.path.exists(self.ws + "/ran"))
        self.assertEqual(self.gatehouse("audit", "list").returncode, 2)
        with open(self.database, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_a_full_disk_stops_what_comes_next(self):
        os.makedirs(self.state)
        calls = self.base + "/calls.jsonl"
        padding = "x" * 3000
        with open(calls, "w", encoding="utf-8") as file:
            for n in range(60):
                file.write(json.dumps({"callId": f"c{n}", "arguments": {"command": f"echo {n} >> log # {padding}"}}) + "\n")
        small = f"mount -t tmpfs -o size=300k none {self.state} && exec \"$@\""
        words = ["unshare", "-m", "sh", "-c", small, "-", GATEHOUSE, "batch", "--cwd", self.ws, "--profile", "workspace-write", calls]
        if subprocess.run(["unshare", "-m", "sh", "-c", f"mount -t tmpfs none {self.state}"], capture_output=True, check=False).returncode:
            self.skipTest("this test mounts a small disk, which only root can")
        done = subprocess.run(words, env=self.env, capture_output=True, text=True, timeout=120, check=False)
        results = [json.loads(line)["result"] for line in done.stdout.splitlines()]
        refused = [r for r in results if r["status"] == "failed"]
        self.assertEqual((done.returncode, len(results)), (1, 60), done.stderr)
        self.assertGreater(len(refused), 5)
        self.assertIn("could not be recorded", refused[-1]["message"])
        self.assertIn("full", refused[-1]["message"])
        with open(self.ws + "/log", encoding="ascii") as file:
            self.assertEqual(len(file.read().split()), len(results) - len(refused))

    def test_no_command_reads_the_audit(self):
        self.run_shell("true")
        done = self.run_shell(f"cat {self.database} {self.database}-wal")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")

    def test_118_a_terminal_session_of_an_agent_leaves_what_was_typed_its_denial_and_its_end(self):
        argv = [GATEHOUSE, "mcp", "--cwd", self.ws, "--profile", "workspace-write"]
        with subprocess.Popen(argv, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            def ask(method, **params):
                server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
                server.stdin.flush()
                return json.loads(server.stdout.readline())["result"]

            def tool(name, **arguments):
                return ask("tools/call", name=name, arguments=arguments)["structuredContent"]
            ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"})
            begun = tool("exec_command", cmd=f"read -r line; touch {self.base}/$line; exit 4", tty=True, yield_time_ms=250)
            told = tool("write_stdin", session_id=begun["sessionId"], chars="outside\n", yield_time_ms=20000)
            self.assertEqual(told["exitCode"], 4)
        found = self.entries()
        first, second = dict.fromkeys(e["call"] for e in found if e.get("call"))
        kinds = lambda call: [e["kind"] for e in found if e.get("call") == call]
        self.assertEqual(kinds(first), ["request", "decision", "attempt", "attempt_end", "end", "denial", "attempt_end"])
        self.assertEqual(kinds(second), ["request", "attempt", "end"])
        self.assertEqual(next(e for e in found if e["kind"] == "denial")["body"]["path"], self.base + "/outside")
        left, over = (e["body"] for e in found if e["kind"] == "attempt_end")
        self.assertEqual((left["running"], over["denied"]["path"]), (True, self.base + "/outside"))

    def serve(self, *options):
        """A daemon, an agent of it, and a reviewer who gives each question's answer out of `answers`."""
        server = subprocess.Popen([GATEHOUSE, "serve", "--profile", "workspace-write", *options], cwd=self.ws, env=self.env, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        server.url = server.stdout.readline().strip()
        server.port = int(server.url.rsplit(":", 1)[1])

        def client(who, **capabilities):
            with open(f"{self.state}/gatehouse/tokens/{who}.token", encoding="ascii") as file:
                one = exec_client.Client(server, {"Authorization": f"Bearer {file.read().strip()}"})
            one.call("initialize", clientInfo={"name": "test", "version": "1"}, capabilities=capabilities)
            one.send({"method": "initialized", "params": {}})
            self.addCleanup(one.drop)
            return one
        return client("agent"), client("reviewer", gatehouse={"approvals": True})

    def test_205_what_a_reviewer_gives_keeps_and_takes_back_is_an_entry_each(self):
        os.mkdir(self.base + "/out")
        agent, reviewer = self.serve("--ask", "untrusted")
        thread = agent.call("thread/start", cwd=self.ws)["result"]["thread"]["id"]

        def asked(number, tool, arguments, answer):
            agent.send({"id": 100 + number, "method": "tool/call", "params": {"threadId": thread, "callId": f"c{number}", "tool": tool, "arguments": arguments}})
            while not (question := reviewer.receive()).get("method", "").endswith("requestApproval"):
                pass
            offered = [one for one in question["params"]["availableDecisions"] if answer in one]  # a name, or an object with it
            reviewer.send({"id": question["id"], "result": {"decision": offered[0]}})
            while (told := agent.receive()).get("id") != 100 + number:
                pass
            return told["result"]
        asked(1, "shell_command", {"command": "mkdir -p one"}, "acceptForSession")
        asked(2, "shell_command", {"command": "touch two"}, "acceptWithExecpolicyAmendment")
        given = asked(3, "request_permissions", {"reason": "to build", "permissions": {"file_system": {"write": [self.base + "/out"]}}},
                      "acceptForSession")
        self.assertEqual(given["status"], "completed", given)
        known = reviewer.call("thread/read", threadId=thread)["result"]
        for kind, one in (("grant", known["grants"][0]), ("approval", known["approvals"][0])):
            self.assertTrue(reviewer.call("grant/revoke", threadId=thread, kind=kind, id=one["id"])["result"]["found"])
        for _ in range(1000):  # the rule is kept beside the call, and what is taken back is written beside its answer
            found = self.entries()
            if [sum(e["kind"] == kind for e in found) for kind in ("amendment", "grant")] == [1, 3]:
                break
        self.assertEqual([e["body"]["decision"] for e in found if e["kind"] == "review"],
                         ["approved_for_session", "approved_execpolicy_amendment", "approved_for_session"])
        self.assertEqual([(e["body"]["what"], e["body"]["text"]) for e in found if e["kind"] == "amendment"], [("rule", "touch two")])
        grants = [e["body"] for e in found if e["kind"] == "grant"]
        self.assertEqual([(g["change"], g["what"]) for g in grants], [("given", "session"), ("revoked", "grant"), ("revoked", "approval")])
        self.assertIn(self.base + "/out", json.dumps(grants[0]))
        self.assertEqual(self.verify().returncode, 0)

    def test_205_what_is_older_than_the_limits_is_taken_out(self):
        for n in range(3):
            self.run_shell(f"echo {n}")
        with sqlite3.connect(self.database) as db:  # a chain of a hundred days ago
            last = db.execute("SELECT max(seq) FROM entry").fetchone()[0]
            db.execute("UPDATE entry SET time = time - 100 * 86400 * 1000000")
        db.close()
        self.run_shell("echo new")
        self.run_shell("echo newer")  # what the first left of it
        found = self.entries()
        self.assertIn(found[0]["kind"], ("session", "pruned"))
        self.assertGreater(found[0]["seq"], last)
        pruned = [e["body"] for e in found if e["kind"] == "pruned"]
        self.assertEqual(pruned, [{"from": 1, "to": last}])
        self.config("[audit]\nkeep_days = 0\n")
        self.run_shell("echo kept")
        self.assertGreater(len(self.entries()), len(found))
        self.assertEqual(self.verify().returncode, 0)

    def test_a_command_of_a_remote_environment_stands_in_the_audits_of_both_sides(self):
        there = dict(self.env, XDG_STATE_HOME=self.base + "/there")
        with exec_client.Server("--no-auth", env=there) as server:
            done = self.gatehouse("run", "--exec-server", server.url, "--exec-cwd", self.ws, "--profile", "workspace-write",
                                  "--", "sh", "-c", "exit 3", stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 3, done.stderr)
        here = self.entries()
        self.assertEqual([e["kind"] for e in here], ["session", "request", "decision", "attempt", "attempt_end", "end"])
        self.assertNotEqual(here[1]["body"].get("environment", "local"), "local")
        self.env = there
        ran = self.entries()
        self.assertEqual([e["kind"] for e in ran], ["attempt", "attempt_end"])
        self.assertEqual((ran[0]["body"]["argv"], ran[1]["body"]["exit_code"]), (["sh", "-c", "exit 3"], 3))

    def test_an_exec_server_records_what_its_clients_start(self):
        with exec_client.Server("--no-auth", env=self.env) as server:
            client = exec_client.Client(server)
            client.start_session()
            client.call("process/start", **exec_client.start("p1", ["/bin/echo", "hi"], self.ws))
            while client.receive().get("method") != "process/closed":
                pass
            client.call("fs/writeFile", path=exec_client.uri(self.ws + "/f"), dataBase64="eA==", sandbox=exec_client.sandbox(self.ws))
            client.drop()
        found = [(e["kind"], e.get("call", "")) for e in self.entries()]
        self.assertEqual(found, [("attempt", "p1"), ("attempt_end", "p1"), ("request", "")])
        self.assertEqual(self.entries()[-1]["body"]["path"], self.ws + "/f")

    def test_an_attempt_of_an_exec_server_was_left_without_its_end(self):
        landlock = {**exec_client.sandbox(self.ws), "useLegacyLandlock": True}
        with exec_client.Server("--no-auth", env=self.env) as server:
            client = exec_client.Client(server)
            client.start_session()
            for name, argv, more in (("missing", ["/no/such"], {}), ("folder", ["/bin/true"], {"cwd": "file:///no/such"}),
                                     ("proxy", ["/bin/true"], {"enforceManagedNetwork": True}), ("landlock", ["/bin/true"], {"sandbox": landlock}),
                                     ("denied", ["/bin/touch", self.base + "/outside"], {}), ("left", ["/bin/sleep", "600"], {})):
                started = client.call("process/start", **{**exec_client.start(name, argv, self.ws), **more})
                while "result" in started and name != "left" and client.receive().get("method") != "process/closed":
                    pass
        found = self.entries()
        attempts, ends = ({e["call"]: e["body"] for e in found if e["kind"] == kind} for kind in ("attempt", "attempt_end"))
        self.assertEqual(list(attempts), ["missing", "folder", "proxy", "landlock", "denied", "left"])
        self.assertEqual(ends.keys(), attempts.keys())
        for name in ("missing", "folder", "proxy"):
            self.assertIn("failure", ends[name], name)
        self.assertEqual((attempts["landlock"]["sandbox"], ends["landlock"]["sandbox"]), ("landlock", "landlock"))
        self.assertEqual([(e["call"], e["body"]["path"]) for e in found if e["kind"] == "denial"], [("denied", self.base + "/outside")])
        self.assertEqual(ends["denied"]["denied"]["path"], self.base + "/outside")
        self.assertTrue(ends["left"]["cancelled"])


if __name__ == "__main__":
    unittest.main()
