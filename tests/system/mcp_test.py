#!/usr/bin/env python3
"""`gatehouse mcp` on standard input and output, both eras, with messages as they stand on the wire (§48, §201)."""
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import unittest

from run_case import GRACE_S

GATEHOUSE = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
DELETE = {"command": "touch f && rm -rf f && echo gone"}


class Mcp(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gatehouse-mcp-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, self.base, True)
        self.ws = os.path.join(self.base, "ws")
        os.mkdir(self.ws)
        self.env = dict(os.environ, HOME=self.base, GATEHOUSE_HOME=self.base + "/home", XDG_STATE_HOME=self.base + "/state")
        self.server = subprocess.Popen([GATEHOUSE, "mcp", "--cwd", self.ws, "--profile", "workspace-write"], env=self.env,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        self.heard = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.next_id = 0

    def end(self):
        self.server.stdin.close()
        self.assertEqual(self.server.wait(30), 0)
        self.server.stdout.close()

    def read(self):
        for line in self.server.stdout:
            self.heard.put(json.loads(line))

    def say(self, **message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.server.stdin.flush()

    def hear(self):
        return self.heard.get(timeout=GRACE_S)

    def ask(self, method, params):
        self.next_id += 1
        self.say(id=self.next_id, method=method, params=params)
        return self.hear()

    def modern(self, method, params=None, elicitation=True):
        meta = {VERSION: "2026-07-28", CAPABILITIES: {"elicitation": {"form": {}}} if elicitation else {}}
        return self.ask(method, {**(params or {}), "_meta": meta})

    def call(self, arguments, **more):
        return self.modern("tools/call", {"name": "shell_command", "arguments": arguments, **more})

    def handshake(self, **capabilities):
        answer = self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": capabilities,
                                         "clientInfo": {"name": "test", "version": "1"}})
        self.say(method="notifications/initialized")
        return answer["result"]

    def test_legacy_handshake_list_and_call(self):
        facts = self.handshake()
        self.assertEqual((facts["protocolVersion"], facts["serverInfo"]["name"]), ("2025-06-18", "gatehouse"))
        tools = self.ask("tools/list", {})["result"]["tools"]
        self.assertEqual([tool["name"] for tool in tools],
                         ["shell_command", "exec_command", "write_stdin", "apply_patch", "request_permissions"])
        told = self.ask("tools/call", {"name": "shell_command", "arguments": {"command": "echo hi; exit 3"}})["result"]
        self.assertEqual((told["structuredContent"]["exitCode"], told["structuredContent"]["output"]), (3, "hi\n"))
        self.assertFalse(told["isError"])
        self.assertEqual(json.loads(told["content"][0]["text"]), told["structuredContent"])
        self.assertEqual(self.ask("ping", {})["result"], {})
        self.assertEqual(self.ask("tools/fly", {})["error"]["code"], -32601)

    def tool(self, name, **arguments):
        return self.ask("tools/call", {"name": name, "arguments": arguments})["result"]["structuredContent"]

    def test_118_a_terminal_session_outlives_its_call_and_is_written_to(self):
        self.handshake()
        started = self.tool("exec_command", cmd="read line; echo got $line; exit 4", tty=True, yield_time_ms=250)
        self.assertEqual(started["status"], "completed")
        self.assertNotIn("exitCode", started)
        told = self.tool("write_stdin", session_id=started["sessionId"], chars="hello\n", yield_time_ms=20000)
        self.assertEqual((told["exitCode"], "got hello" in told["output"], "sessionId" in told), (4, True, False))
        gone = self.tool("write_stdin", session_id=started["sessionId"])
        self.assertEqual((gone["status"], "Unknown process id" in gone["message"]), ("failed", True))
        at_once = self.tool("exec_command", cmd="echo hi")
        self.assertEqual((at_once["exitCode"], at_once["output"]), (0, "hi\n"))

    def test_a_patch_is_applied_and_one_that_does_not_fit_changes_nothing(self):
        self.handshake()
        told = self.tool("apply_patch", patch="*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\n")
        self.assertEqual(told["status"], "completed", told)
        with open(os.path.join(self.ws, "new.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "hello\n")
        told = self.tool("apply_patch", patch="*** Begin Patch\n*** Update File: new.txt\n@@\n-absent\n+x\n*** End Patch\n")
        self.assertEqual((told["exitCode"], "was not applied" in told["message"]), (1, True), told)
        with open(os.path.join(self.ws, "new.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "hello\n")

    def test_legacy_question_is_a_request_and_its_answer_counts(self):
        self.handshake(elicitation={})
        for content, gone in (({"decision": "accept"}, True), ({"decision": "decline"}, False), ({"decision": 3}, False),
                              ({"decision": "acceptEverything"}, False)):
            question = self.ask("tools/call", {"name": "shell_command", "arguments": DELETE})
            self.assertEqual(question["method"], "elicitation/create")
            self.assertIn("rm -rf f", question["params"]["message"])
            self.say(id=question["id"], result={"action": "accept", "content": content})
            told = self.hear()["result"]
            self.assertEqual((told["isError"], "gone" in told["structuredContent"].get("output", "")), (not gone, gone))

    def test_48_an_answer_without_a_decision_was_a_yes(self):
        self.handshake(elicitation={})
        for content in (None, {}, {"decision": None}, {"decision": "approve"}, []):
            question = self.ask("tools/call", {"name": "shell_command", "arguments": DELETE})
            self.say(id=question["id"], result={"action": "accept", **({} if content is None else {"content": content})})
            told = self.hear()["result"]
            self.assertTrue(told["isError"], content)
            self.assertNotIn("gone", told["structuredContent"].get("output", ""))

    def test_the_end_of_input_while_something_is_under_way_was_a_crash(self):
        for arguments in ({"command": "sleep 30"}, DELETE):
            with subprocess.Popen(self.server.args, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
                for message in ({"id": 1, "method": "initialize",
                                 "params": {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}},
                                            "clientInfo": {"name": "test", "version": "1"}}},
                                {"id": 2, "method": "tools/call",
                                 "params": {"name": "shell_command", "arguments": arguments}}):
                    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
                server.stdin.flush()
                server.stdout.readline()
                server.stdin.close()
                self.assertEqual(server.wait(60), 0)

    def test_a_line_beyond_the_limit_ended_the_server_and_blank_lines_were_errors(self):
        lines = b"x" * (17 << 20) + b"\n\r\n\n" + json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "initialize",
             "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
        ).encode() + b"\n"
        done = subprocess.run(self.server.args, env=self.env, input=lines, capture_output=True, timeout=GRACE_S, check=False)
        refused, answered = map(json.loads, done.stdout.splitlines())
        self.assertEqual((refused["id"], refused["error"]["code"]), (None, -32700))
        self.assertEqual((answered["id"], "result" in answered), (1, True))
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_an_input_that_ends_inside_a_line_is_said(self):
        done = subprocess.run(self.server.args, env=self.env, input=b"{", capture_output=True, timeout=GRACE_S, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"into a line", done.stderr)

    def test_16a_permissions_are_asked_for_and_hold_for_later_commands(self):
        self.handshake(elicitation={})
        out = self.base + "/out"
        os.mkdir(out)
        touch = {"name": "shell_command", "arguments": {"command": f"touch {out}/f && echo made"}}
        wish = {"name": "request_permissions",
                "arguments": {"permissions": {"file_system": {"write": [out]}}, "reason": "to build"}}
        self.assertTrue(self.ask("tools/call", touch)["result"]["structuredContent"]["sandboxDenied"])
        for decision in ("decline", "acceptForSession", "accept"):
            question = self.ask("tools/call", wish)
            self.assertIn(out, question["params"]["message"])
            self.assertIn("to build", question["params"]["message"])
            choices = question["params"]["requestedSchema"]["properties"]["decision"]["oneOf"]
            self.assertEqual([choice["const"] for choice in choices], ["accept", "decline"])
            self.say(id=question["id"], result={"action": "accept", "content": {"decision": decision}})
            told = self.hear()["result"]
            self.assertEqual(told["isError"], decision != "accept", told)
            done = self.ask("tools/call", touch)["result"]["structuredContent"]
            self.assertEqual(done["output"] == "made\n", decision == "accept", done)
        self.assertEqual(json.loads(told["structuredContent"]["output"])["permissions"], {"file_system": {"write": [out]}})

    def test_a_client_that_cannot_ask_gets_a_refusal_at_once(self):
        self.handshake()
        told = self.ask("tools/call", {"name": "shell_command", "arguments": DELETE})["result"]
        self.assertTrue(told["isError"])
        self.assertIn("cannot ask its user", told["structuredContent"]["message"])

    def test_42_a_rule_that_is_written_meanwhile_holds_for_the_next_call(self):
        self.handshake()
        say = {"name": "shell_command", "arguments": {"command": "echo hi"}}
        self.assertFalse(self.ask("tools/call", say)["result"]["isError"])
        os.makedirs(self.base + "/home/rules")
        with open(self.base + "/home/rules/mine.rules", "w", encoding="ascii") as rules:
            rules.write('prefix_rule(["echo"], "forbidden", justification = "quiet, please")\n')
        told = self.ask("tools/call", say)["result"]
        self.assertTrue(told["isError"])
        self.assertIn("quiet, please", told["structuredContent"]["message"])

    def test_modern_requests_stand_for_themselves(self):
        facts = self.modern("server/discover")["result"]
        self.assertEqual((facts["resultType"], facts["supportedVersions"]), ("complete", ["2026-07-28"]))
        told = self.call({"command": "echo hi"})["result"]
        self.assertEqual((told["resultType"], told["structuredContent"]["output"]), ("complete", "hi\n"))
        error = self.ask("tools/list", {"_meta": {VERSION: "2031-01-01"}})["error"]
        self.assertEqual((error["code"], error["data"]["supported"]), (-32022, ["2026-07-28"]))
        self.assertEqual(self.ask("tools/list", {})["error"]["code"], -32600)  # neither era

    def test_modern_question_is_a_result_that_the_client_answers_by_calling_again(self):
        asked = self.call(DELETE)["result"]
        self.assertEqual(asked["resultType"], "input_required")
        self.assertEqual(asked["inputRequests"]["approval"]["method"], "elicitation/create")
        state = asked["requestState"]
        yes = {"approval": {"action": "accept", "content": {"decision": "accept"}}}
        other = self.call({"command": "rm -rf /"}, requestState=state, inputResponses=yes)
        self.assertEqual(other["error"]["code"], -32602)  # the yes is for what was shown
        told = self.call(DELETE, requestState=state, inputResponses=yes)["result"]
        self.assertEqual(told["structuredContent"]["output"], "gone\n")
        again = self.call(DELETE, requestState=state, inputResponses=yes)
        self.assertEqual(again["error"]["code"], -32602)  # used once
        self.assertEqual(self.call(DELETE, requestState="made up", inputResponses=yes)["error"]["code"], -32602)

    def test_modern_call_again_without_an_answer_is_asked_again_and_a_no_is_a_no(self):
        state = self.call(DELETE)["result"]["requestState"]
        asked = self.call(DELETE, requestState=state)["result"]
        self.assertEqual(asked["resultType"], "input_required")
        self.assertNotEqual(asked["requestState"], state)
        told = self.call(DELETE, requestState=asked["requestState"],
                         inputResponses={"approval": {"action": "cancel"}})["result"]
        self.assertTrue(told["isError"])
        self.assertEqual(told["structuredContent"]["status"], "declined")

    def test_modern_client_without_elicitation_is_never_left_waiting(self):
        told = self.modern("tools/call", {"name": "shell_command", "arguments": DELETE}, elicitation=False)["result"]
        self.assertTrue(told["isError"])
        self.assertIn("cannot ask its user", told["structuredContent"]["message"])

    def test_wrong_input_is_told_and_the_server_goes_on(self):
        self.handshake()
        for line, code in (("{", -32700), ("[]", -32600), ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":3}', -32602)):
            self.server.stdin.write(line + "\n")
            self.server.stdin.flush()
            self.assertEqual(self.hear()["error"]["code"], code)
        told = self.ask("tools/call", {"name": "shell_command", "arguments": {"comand": "true"}})["result"]
        self.assertTrue(told["isError"])
        self.assertIn("/comand", told["structuredContent"]["message"])

    def test_a_cancelled_call_ends_and_is_not_answered(self):
        self.handshake()
        self.say(id=77, method="tools/call", params={"name": "shell_command", "_meta": {"progressToken": "p"},
                                                     "arguments": {"command": "touch started; sleep 60"}})
        progress = self.hear()
        self.assertEqual((progress["method"], progress["params"]["progressToken"]), ("notifications/progress", "p"))
        self.say(method="notifications/cancelled", params={"requestId": 77})
        self.assertEqual(self.ask("ping", {})["id"], self.next_id)  # the next that is heard


if __name__ == "__main__":
    unittest.main()
