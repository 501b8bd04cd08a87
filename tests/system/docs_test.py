"""Stage 10: what the pages claim holds. Every fenced block of every page is run, read by the program, or marked with why not.

What a block is stands behind its fence:
  starlark, toml, toml requirements, json hooks   read by the program, without a complaint
  json server, toml server                        how another program starts ours: that command is started and asked for its tools
  json agent, toml agent, sh agent                another agent's own setting: tried with it by tests/agents
  ini                                             a drop-in of the unit: its command is read by the program
  sh run                                          run, line by line, in a workspace with a past
  sh, or nothing                                  its commands and options exist; a comment in the line above says why it is not run
                                                  (`<!-- not run: … -->`), but in README, which carries no marks
  text                                            no code
"""
import configparser
import io
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import tomllib
import unittest

from run_case import GRACE_S

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")])
COMMAND = re.compile(r"\bgatehouse ((?:(?:policy|config|audit) )?[a-z][a-z-]*)")


class Block:
    def __init__(self, page, line, info, text, above):
        self.page, self.line, self.info, self.text = page, line, info, text
        self.reason = re.fullmatch(r"<!-- not run: (.+) -->", above)

    def where(self):
        return {"page": self.page.name, "line": self.line}


def blocks():
    for page in PAGES:
        lines = page.read_text(encoding="utf-8").split("\n")
        start = None
        for number, line in enumerate(lines, 1):
            if line.startswith("```"):
                if start is None:
                    start = number
                else:
                    yield Block(page, start, lines[start - 1][3:].strip(), "\n".join(lines[start:number - 1]) + "\n", lines[start - 2])
                    start = None
        assert start is None, f"{page.name}:{start}: the block has no end"


BLOCKS = list(blocks())


def commands_in(text):
    """[("policy explain", ["--shell", …])] of every `gatehouse` in a shell text; what stands behind `--` belongs to another program."""
    for line in text.split("\n"):
        for found in COMMAND.finditer(line):
            words = re.split(r"\s(?:--|#|\||&&|;|<|>)\s|$", line[found.end():])[0]
            yield found[1], re.findall(r"(?<![\w'\"-])--?[a-z][\w-]*", re.sub(r"'[^']*'", "", words))


class Pages(unittest.TestCase):
    def run_program(self, *arguments, home="/nonexistent", stdin=""):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=GRACE_S, cwd="/", input=stdin,
                              env={**os.environ, "GATEHOUSE_HOME": home, "XDG_STATE_HOME": "/nonexistent"})

    def each(self, info, check, least):
        """Calls check(empty folder, sample) for every sample; there are `least` or more."""
        count = 0
        for block in BLOCKS:
            if block.info == info:
                count += 1
                with self.subTest(**block.where()), tempfile.TemporaryDirectory() as folder:
                    check(folder, block.text)
        self.assertGreaterEqual(count, least, info)

    def test_a_block_is_run_read_or_says_why_not(self):
        kinds = {"starlark", "starlark decisions", "toml", "toml requirements", "json hooks", "json server", "toml server", "json agent",
                 "toml agent", "sh agent", "ini", "sh run", "text"}
        for block in BLOCKS:
            with self.subTest(**block.where()):
                if block.info in ("", "sh", "shell"):
                    self.assertTrue(block.reason or block.page.name == "README.md",
                                    "neither `sh run` nor a line `<!-- not run: why -->` above it")
                else:
                    self.assertIn(block.info, kinds)

    def test_rule_samples_load_and_their_examples_hold(self):
        def check(folder, text):
            file = os.path.join(folder, "sample.rules")
            pathlib.Path(file).write_text(text, encoding="utf-8")
            done = self.run_program("policy", "test", file)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.each("starlark", check, 5)
        self.each("starlark decisions", check, 1)

    def test_configuration_samples_are_understood_wholly(self):
        def check(folder, text):
            pathlib.Path(folder, "config.toml").write_text(text, encoding="utf-8")
            done = self.run_program("config", "show", home=folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.each("toml", check, 9)

    def test_requirement_samples_are_understood_wholly(self):
        def check(_, text):
            for more, fine in (("", True), ("\nno_such_key = 1\n", False)):
                asked = json.dumps({"argv": ["true"], "approval_policy": "on-request", "profile": "read-only", "requirements": more + text})
                done = self.run_program("policy", "explain", "--jsonl", stdin=asked + "\n")
                self.assertEqual("error" not in json.loads(done.stdout), fine, done.stdout)
        self.each("toml requirements", check, 2)

    def test_hook_samples_are_understood_wholly(self):
        def check(folder, text):
            for hooks, status in ((text, 0), (text.replace('"command"', '"comand"'), 2)):
                pathlib.Path(folder, "hooks.json").write_text(hooks, encoding="utf-8")
                done = subprocess.run([PROGRAM, "run", "--profile", "read-only", "--ask", "never", "--", "/bin/true"], check=False,
                                      capture_output=True, text=True, timeout=GRACE_S, cwd=folder, stdin=subprocess.DEVNULL,
                                      env={**os.environ, "GATEHOUSE_HOME": folder, "XDG_STATE_HOME": folder})
                # The program that the sample names is not there, which refuses the call; a file that is not understood stops it before.
                self.assertEqual(done.returncode == 2, status == 2, done.stderr)
        self.each("json hooks", check, 1)

    def test_the_lines_for_other_programs_start_a_server(self):
        def commands(node):
            """Every command with its arguments, as one list or as two fields."""
            if isinstance(node, dict):
                if isinstance(node.get("command"), str):
                    yield [node["command"], *node.get("args", [])]
                elif isinstance(node.get("command"), list):
                    yield node["command"]
                for inner in node.values():
                    yield from commands(inner)

        def check(folder, text):
            read = json.loads(text) if text.startswith("{") else tomllib.loads(text)
            found = list(commands(read))
            self.assertEqual(len(found), 1)
            self.assertEqual(found[0][0], "/path/to/gatehouse")
            asked = [{"jsonrpc": "2.0", "id": 1, "method": "initialize",
                      "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
                     {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
            done = subprocess.run([PROGRAM, *found[0][1:]], capture_output=True, text=True, check=False, timeout=GRACE_S, cwd=folder,
                                  input="".join(json.dumps(one) + "\n" for one in asked),
                                  env={**os.environ, "GATEHOUSE_HOME": folder, "XDG_STATE_HOME": folder})
            told = {answer.get("id"): answer for answer in map(json.loads, done.stdout.splitlines())}
            self.assertIn("shell_command", [tool["name"] for tool in told[2]["result"]["tools"]], done.stderr)
        self.each("json server", check, 4)
        self.each("toml server", check, 1)

    def test_the_settings_of_other_agents_are_documents(self):
        self.each("json agent", lambda _, text: json.loads(text), 2)
        self.each("toml agent", lambda _, text: tomllib.loads(text), 1)

    def test_a_drop_in_of_the_unit_is_read(self):
        unit = configparser.ConfigParser(strict=False, interpolation=None)
        unit.optionxform = str
        known = (ROOT / "packaging" / "gatehouse.service").read_text(encoding="utf-8")

        def check(_, text):
            lines = [line for line in text.split("\n") if line.startswith("ExecStart=/")]
            unit.read_file(io.StringIO(text))
            self.assertIn("[Service]", known)
            self.assertEqual(len(lines), 1)
            self.assertTrue(set(re.findall(r"^(\w+)=", text, re.M)) <= {"ExecStart"}, "a key that this test does not know")
            self.assert_known(lines[0].replace("/usr/bin/", ""))
        self.each("ini", check, 1)

    def test_shell_samples_run(self):
        def check(folder, text):
            environment = {**os.environ, "HOME": folder, "GATEHOUSE_HOME": folder + "/home", "XDG_STATE_HOME": folder + "/state",
                           "PATH": os.path.dirname(PROGRAM) + ":" + os.environ["PATH"]}

            def sh(line):
                return subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, timeout=120, cwd=work,
                                      stdin=subprocess.DEVNULL, env=environment)
            work = os.path.join(folder, "work")
            os.makedirs(work)
            pathlib.Path(work, "stricter.rules").write_text('prefix_rule(["git", "push"], "forbidden", match = ["git push"])\n')
            sh("gatehouse run --profile workspace-write -- true")  # the past
            call = json.loads(sh("gatehouse audit export --kind end").stdout.split("\n")[0])["call"]
            for line in text.split("\n"):
                if line.strip():
                    done = sh(line.replace("CALL", shlex.quote(call)))
                    self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
        self.each("sh run", check, 3)

    def test_the_table_of_decisions_holds(self):
        page = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
        rules = next(block.text for block in BLOCKS if block.info == "starlark decisions")
        table = page[page.index("| command | `untrusted`"):].split("\n\n")[0].split("\n")
        policies = re.findall(r"`([\w-]+)`", table[0])
        words = {"skip": "runs", "needs_approval": "asks", "forbidden": "refused"}
        rows = 0
        for row in table[2:]:
            command = re.match(r"\| `(.*?)` \|", row.replace("\\|", "\0"))[1].replace("\0", "|")
            said = [cell.strip() for cell in row.replace("\\|", "").split("|")[2:-1]]
            for policy, cell in zip(policies, said, strict=True):
                rows += 1
                asked = json.dumps({"command": command, "approval_policy": policy, "profile": "workspace-write", "rules": rules,
                                    "cwd": str(ROOT)})
                done = self.run_program("policy", "explain", "--jsonl", stdin=asked + "\n")
                with self.subTest(command=command, policy=policy):
                    told = json.loads(done.stdout)
                    self.assertEqual(words[told["requirement"]["kind"]], cell, done.stdout)
                    if cell == "runs":
                        self.assertEqual(told["sandbox"]["first_attempt"], "sandboxed")
        self.assertGreater(rows, 30)

    def test_the_table_of_settings_has_every_key_and_no_other(self):
        """A value for each, in two files, since some exclude each other; `config show` tells all of them."""
        files = ("""approval_policy = "untrusted"
default_permissions = "read-only"
allow_login_shell = false
default_timeout_ms = 1
protected_names = ["x"]
environment = { inherit = "core", include = ["P*"], exclude = ["X"], keep = ["K"] }
terminals = { hard_limit_ms = 1, idle_limit_ms = 1 }
rules = { default_sandbox = "keep" }
features = { additional_permissions = false }
sandbox = { backend = "platform" }
approvals_reviewer = "user"
auto_review = { command = ["/bin/true"], timeout_ms = 1, strict = true }
audit = { enabled = true, on_failure = "refuse", flush = true, keep_days = 1, keep_megabytes = 1 }
""", """auto_review = { url = "https://a.test/v1", model = "m", key_env = "A", ca_file = "/etc/ca.pem" }
""", """auto_review = { url = "https://a.test/v1", model = "m", key_file = "/etc/key" }
""")
        told, shown = set(), set()
        page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
        for line in page[page.index("| key | values"):].split("\n\n")[0].split("\n"):
            told |= set(re.findall(r"`([a-z_]+(?:\.[a-z_]+)*)`", line.split("|")[1]))
        for text in files:
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "config.toml").write_text(text, encoding="utf-8")
                done = self.run_program("config", "show", "--json", home=folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(json.loads(done.stdout)["warnings"], [])
                shown |= {row["key"] for row in json.loads(done.stdout)["settings"]}
        self.assertEqual(told, shown)

    def test_a_link_leads_to_a_page_that_exists(self):
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            for name in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", text) + re.findall(r"\bdocs/[a-z-]+\.md\b", text):
                place = ROOT / name if name.startswith("docs/") else page.parent / name
                self.assertTrue(place.exists(), f"{page.name}: {name}")

    def assert_known(self, text):
        for command, options in commands_in(text):
            if command == "file-call":
                continue  # its requests come on standard input, from our own programs only
            done = self.run_program(*command.split(), "--help")
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")
            for option in options:
                self.assertRegex(done.stdout + " --help", r"(?<![\w-])" + re.escape(option) + r"(?![\w-])", f"gatehouse {command}")

    def test_a_command_or_option_that_a_page_shows_exists(self):
        count = 0
        for block in BLOCKS:
            if block.info in ("", "sh", "shell", "sh agent", "sh run"):
                count += 1
                with self.subTest(**block.where()):
                    self.assert_known(block.text)
        for page in PAGES:
            for span in re.findall(r"`(gatehouse [^`]+)`", page.read_text(encoding="utf-8")):
                count += 1
                with self.subTest(page=page.name, span=span):
                    self.assert_known(span.replace("\n", " "))
        self.assertGreater(count, 40)

    def test_the_index_for_agents_names_every_page(self):
        index = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
        for page in ROOT.glob("docs/*.md"):
            self.assertIn(page.name, index)


if __name__ == "__main__":
    unittest.main(verbosity=2)
