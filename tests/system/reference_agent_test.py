#!/usr/bin/env python3
"""§120, second tier: the real reference agent, offline with a model of ours, through `gatehouse exec-server`.
Run by `scripts/test --all`, which fetches the agent into tests/reference_agent."""
import os
import shutil
import subprocess
import tempfile
import unittest

from exec_client import Server
from model_server import ModelServer, call, message

AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference_agent", "node_modules", ".bin", "codex")
PATCH = "*** Begin Patch\n*** Add File: made.txt\n+by a patch\n*** End Patch\n"
SETTINGS = """model = "mock"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "workspace-write"
[model_providers.mock]
name = "mock"
base_url = "{url}"
wire_api = "responses"
"""


class ReferenceAgent(unittest.TestCase):
    def setUp(self):
        self.base = os.path.realpath(tempfile.mkdtemp(prefix="gatehouse-agent-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.base, True)
        self.ws, self.home = os.path.join(self.base, "ws"), os.path.join(self.base, "agent")
        os.mkdir(self.ws), os.mkdir(self.home)

    def run_agent(self, turns):
        """What the model was told by each call."""
        model = ModelServer(turns)
        self.addCleanup(model.close)
        with open(os.path.join(self.home, "config.toml"), "w", encoding="utf-8") as file:
            file.write(SETTINGS.format(url=model.url))
        env = {"PATH": os.environ["PATH"], "HOME": self.base, "CODEX_HOME": self.home,
               "XDG_STATE_HOME": os.path.join(self.base, "state")}
        with Server("--no-auth", cwd=self.ws, env=env) as server:
            run = subprocess.run([AGENT, "exec", "--skip-git-repo-check", "-C", self.ws, "go"], cwd=self.ws,
                                 env={**env, "CODEX_EXEC_SERVER_URL": server.url}, stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr)
        return model.outputs()

    def read(self, name):
        with open(os.path.join(self.ws, name), encoding="utf-8") as file:
            return file.read()

    def test_120_a_command_and_a_patch_go_through_our_boundary(self):
        told = self.run_agent([
            [call(1, "exec_command", {"cmd": "echo by a command > cmd.txt; cat cmd.txt; touch /usr/nope; exit 3"})],
            [call(2, "exec_command", {"cmd": f"apply_patch <<'EOF'\n{PATCH}EOF\n"})],
            [message("done")]])
        self.assertIn("Process exited with code 3", told["call-1"])
        self.assertIn("by a command\n", told["call-1"])
        self.assertIn("/usr/nope", told["call-1"])
        self.assertFalse(os.path.exists("/usr/nope"))
        self.assertIn("A made.txt", told["call-2"])
        self.assertEqual((self.read("cmd.txt"), self.read("made.txt")), ("by a command\n", "by a patch\n"))

    def test_123_a_terminal_session_is_written_to(self):
        told = self.run_agent([
            [call(1, "exec_command", {"cmd": "read line; echo got $line; sleep 0.3; exit 4", "tty": True, "yield_time_ms": 250})],
            lambda asked: [call(2, "write_stdin", {"session_id": session_of(asked), "chars": "hello\n",
                                                   "yield_time_ms": 10000})],
            [message("done")]])
        self.assertIn("Process running with session ID", told["call-1"])
        self.assertIn("got hello", told["call-2"])
        self.assertIn("Process exited with code 4", told["call-2"])


def session_of(asked):
    for item in asked["input"]:
        if item.get("call_id") == "call-1" and "output" in item:
            return int(item["output"].split("session ID ")[1].split()[0])
    raise AssertionError("no session")


if __name__ == "__main__":
    unittest.main()
