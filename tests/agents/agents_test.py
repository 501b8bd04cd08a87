#!/usr/bin/env python3
"""§201, second tier: the agents of docs/agents.md, offline, each set up with what that page shows and nothing else, with a
model of ours. Each calls a tool through `gatehouse mcp`, and is offered none of the tools that the page switches off.
Run by `scripts/test --all`, which fetches the agents into tests/agents."""
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import unittest

from model import DONE, Model

HERE = pathlib.Path(__file__).resolve().parent
PAGE = (HERE.parents[1] / "docs" / "agents.md").read_text(encoding="utf-8")
GATEHOUSE = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")
MODULES = HERE / "node_modules"
# Where the package only links a program for its platform when its install scripts run.
PROGRAMS = {"claude": "@anthropic-ai/claude-code-linux-{}/claude", "opencode": "opencode-linux-{}/bin/opencode"}
CPU = {"x86_64": "x64", "aarch64": "arm64"}[os.uname().machine]
GRACE_S = 300  # bounds an agent that hangs; no outcome depends on it
COMMAND = "echo from the gate > made.txt; cat made.txt; touch ../outside; exit 3"


def program(name):
    return str(MODULES / PROGRAMS.get(name, ".bin/" + name).format(CPU))


def blocks(heading):
    """The fenced blocks below a heading of the page, as (language, text with our program in it)."""
    section = re.search(rf"^### {re.escape(heading)}\n(.*?)(?=^##)", PAGE, re.M | re.S)[1]
    return [(kind, text.replace("/path/to/gatehouse", GATEHOUSE))
            for kind, text in re.findall(r"^```([a-z]+) (?:agent|server)\n(.*?)^```$", section, re.M | re.S)]


class Agents(unittest.TestCase):
    def setUp(self):
        self.base = os.path.realpath(tempfile.mkdtemp(prefix="gatehouse-agents-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.base, True)
        self.home, self.ws = self.base + "/home", self.base + "/ws"
        self.addCleanup(self.end_what_is_left)
        for folder in (self.home, self.ws, self.base + "/bin"):
            os.mkdir(folder)
        self.model = Model("shell_command", {"command": COMMAND})
        self.addCleanup(self.model.close)
        self.env = {"HOME": self.home, "PATH": f"{self.base}/bin:{os.environ['PATH']}", "TERM": "dumb", "LANG": "C.UTF-8",
                    "SHELL": "/bin/bash"}
        subprocess.run(["git", "init", "-q", self.ws], check=True, env=self.env)

    def end_what_is_left(self):
        """An agent may leave a service behind (Cline's hub); it is known by the home that this test alone has."""
        for number in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{number}/environ", "rb") as file:
                    ours = f"HOME={self.home}".encode() in file.read().split(b"\0")
                if ours:
                    os.kill(int(number), signal.SIGKILL)
            except OSError:
                pass  # it has ended, or is another user's

    def write(self, place, text):
        path = os.path.join(self.base, place)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run_it(self, *argv, **env):
        os.path.lexists(link := f"{self.base}/bin/{argv[0]}") or os.symlink(program(argv[0]), link)
        done = subprocess.run(argv, cwd=self.ws, env={**self.env, **env}, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=GRACE_S, check=False)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        return said

    def set_up(self, heading, *files):
        """Runs the commands of a section and writes its other blocks to `files`, in their order."""
        kinds = blocks(heading)
        places = iter(files)
        for kind, text in kinds:
            if kind != "sh":
                self.write(next(places), text)
        self.assertIsNone(next(places, None), f"{heading}: the page shows fewer files")
        return [shlex.split(text) for kind, text in kinds if kind == "sh"]

    def check_call(self, said, *gone):
        """The agent called the tool behind the gate, and lacks its own tools `gone`, which it would have."""
        self.assertIn(DONE, said)
        self.assertTrue(self.model.results, f"no tool answered; offered: {sorted(self.model.offered)}")
        self.assertIn("from the gate", self.model.results[-1])
        self.assertIn("../outside", self.model.results[-1])  # the boundary's own words: what was refused
        self.assertFalse(os.path.exists(self.base + "/outside"), "it did not run behind the gate")
        with open(self.ws + "/made.txt", encoding="utf-8") as file:
            self.assertEqual(file.read(), "from the gate\n")
        self.assertEqual(self.model.offered.intersection(gone), set())

    def test_the_page_names_the_versions_that_are_tried(self):
        pinned = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
        shown = dict(re.findall(r"^\| [^|]+ \| ([0-9.]+) \| `([^`]+)` \|", PAGE, re.M))
        self.assertEqual({name: version for version, name in shown.items()}, pinned)

    def test_claude_code(self):
        model = {"ANTHROPIC_BASE_URL": self.model.url, "ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        for command in self.set_up("Claude Code", "home/.claude/settings.json"):
            self.run_it(*command)
        self.assertRegex(self.run_it("claude", "mcp", "list"), "gatehouse: .*Connected")
        self.check_call(self.run_it("claude", "-p", "go", **model), "Bash", "Edit", "Write", "NotebookEdit")

    def test_codex(self):
        self.set_up("Codex", "home/.codex/config.toml")
        with open(self.home + "/.codex/config.toml", "r+", encoding="utf-8") as file:
            ours = file.read()
            file.seek(0)
            file.write('model = "mock"\nmodel_provider = "mock"\n' + ours +
                       f'[model_providers.mock]\nname = "mock"\nbase_url = "{self.model.url}/v1"\nwire_api = "responses"\n')
        self.assertRegex(self.run_it("codex", "mcp", "list"), "gatehouse .*enabled")
        self.check_call(self.run_it("codex", "exec", "--skip-git-repo-check", "go"), "shell", "local_shell", "exec_command",
                        "shell_command", "apply_patch")

    def test_github_copilot_cli(self):
        ((_, *options),) = self.set_up("GitHub Copilot CLI", "home/.copilot/mcp-config.json")
        self.assertIn("gatehouse", self.run_it("copilot", "mcp", "list"))
        said = self.run_it("copilot", "-p", "go", *options, "--disable-builtin-mcps", COPILOT_OFFLINE="true", COPILOT_MODEL="mock",
                           COPILOT_PROVIDER_BASE_URL=self.model.url + "/v1")
        self.check_call(said, "bash", "create", "edit")

    def test_gemini_cli(self):
        self.set_up("Gemini CLI", "home/.gemini/settings.json", "home/.gemini/policies/gatehouse.toml")
        model = {"GOOGLE_GEMINI_BASE_URL": self.model.url, "GEMINI_API_KEY": "none"}
        path = self.home + "/.gemini/settings.json"
        with open(path, encoding="utf-8") as file:
            settings = json.load(file)
        self.write("home/.gemini/settings.json", json.dumps({**settings, "security": {"auth": {"selectedType": "gemini-api-key"}}}))
        self.assertIn("Disabled", self.run_it("gemini", "mcp", "list"), "a folder that is not trusted")
        self.write("home/.gemini/trustedFolders.json", json.dumps({self.ws: "TRUST_FOLDER"}))
        self.assertRegex(self.run_it("gemini", "mcp", "list"), "gatehouse: .*Connected")
        self.check_call(self.run_it("gemini", "-p", "go", **model), "run_shell_command", "replace", "write_file")

    def test_qwen_code(self):
        self.set_up("Qwen Code", "home/.qwen/settings.json")
        self.assertRegex(self.run_it("qwen", "mcp", "list"), "gatehouse: .*Connected")
        said = self.run_it("qwen", "-p", "go", "--auth-type", "openai", OPENAI_BASE_URL=self.model.url + "/v1",
                           OPENAI_API_KEY="none", OPENAI_MODEL="mock")
        self.check_call(said, "run_shell_command", "edit", "write_file")

    def test_opencode(self):
        self.set_up("opencode", "ws/opencode.json")
        self.write("home/.config/opencode/opencode.json", json.dumps({
            "provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "models": {"mock": {"name": "mock"}},
                                  "options": {"baseURL": self.model.url + "/v1", "apiKey": "none"}}},
            "model": "mock/mock", "autoupdate": False}))
        self.assertRegex(self.run_it("opencode", "mcp", "list"), "gatehouse .*connected")
        self.check_call(self.run_it("opencode", "run", "go"), "bash", "edit", "write", "patch")

    def test_cline(self):
        (command,) = self.set_up("Cline", "home/.cline/data/settings/global-settings.json")
        self.run_it("cline", "auth", "-p", "openai", "-k", "none", "-m", "mock", "-b", self.model.url + "/v1")
        self.run_it(*command)
        self.check_call(self.run_it("cline", "-P", "openai", "-m", "mock", "please go"), "run_commands", "editor", "apply_patch")


if __name__ == "__main__":
    unittest.main(verbosity=2)
