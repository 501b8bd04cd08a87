#!/usr/bin/env python3
"""What a program reads when a command fails (§204): with --json one document on standard output, whatever was wrong.

Nothing is run but what is refused before it starts."""
import json
import os
import subprocess
import unittest

from run_case import GATEHOUSE, GRACE_S, RunCase

NOWHERE = "/proc/nowhere"
CLOSED = "ws://127.0.0.1:1"

# Every command that takes --json: (words, status, kind of failure). A bad option is tried of each; with
# invalid_config the configuration cannot be read.
WRONG = {
    "run": [(["--cwd", NOWHERE, "--", "true"], 2, "not_found"), ([], 2, "invalid_request"), (["--rules", NOWHERE, "--", "true"], 2, "not_found"),
            (["--environment", "none", "--", "true"], 2, "invalid_request"), (["--", "true"], 2, "invalid_config")],
    "apply-patch": [(["--cwd", NOWHERE, "x"], 2, "not_found"), ([], 2, "invalid_request"), (["/proc/version"], 2, "invalid_request"),
                    (["x"], 2, "invalid_config")],
    "batch": [([NOWHERE], 2, "not_found"), ([], 2, "invalid_request"), (["calls"], 2, "invalid_config"),
              (["--journal", NOWHERE + "/j", "calls"], 2, None), (["--url", CLOSED, "--token-file", NOWHERE, "calls"], 2, None)],
    "load": [([CLOSED], 1, "io"), ([], 2, "invalid_request"), (["--mix", NOWHERE, CLOSED], 2, "not_found")],
    "serve": [(["--root", NOWHERE], 2, "invalid_request"), (["--listen", "unix://" + NOWHERE + "/s"], 1, "io"), (["--listen", "x"], 2, "invalid_request"),
              (["--listen", "stdio://"], 2, "invalid_request"), ([], 2, "invalid_config")],
    "review": [([], 1, "not_found"), (["--list"], 1, "not_found"), (["--list", "--connect", "x"], 2, "invalid_request"),
               (["--list", "--connect", "unix://" + NOWHERE, "--reviewer-token-file", "token"], 1, "io"),
               (["--connect", "unix://" + NOWHERE, "--reviewer-token-file", "token"], 1, "io")],  # its input ends at once
    "sandbox": [(["--explain", "--cwd", NOWHERE], 2, "not_found"), (["--explain", "--preset", "x"], 2, "invalid_request"),
                (["--explain", "--profile", "nope"], 2, "invalid_profile"), (["--explain"], 2, "invalid_config")],
    "exec-server": [(["--listen", "x"], 2, "invalid_request"), (["--listen", "unix://" + NOWHERE + "/s"], 1, "io"),
                    (["--listen", "stdio"], 2, "invalid_request"), (["--no-auth"], 2, "invalid_config")],
    "policy explain": [([], 2, "invalid_request"), (["--rules", NOWHERE, "--", "ls"], 2, "not_found"), (["--", "ls"], 2, "invalid_config")],
    "policy check": [(["ls"], 2, "invalid_request"), (["--rules", NOWHERE, "ls"], 1, "invalid_rules")],
    "policy test": [([], 2, "invalid_request")],
    "policy replay": [([], 2, "invalid_request"), (["--rules", NOWHERE], 2, "not_found"), (["--rules", "none.rules"], 2, "invalid_config"),
                      (["--rules", "none.rules", "--audit", "--file", NOWHERE], 2, "not_found")],
    "audit list": [(["--kind", "x"], 2, "invalid_request"), (["--file", NOWHERE], 2, "not_found")],
    "audit show": [([], 2, "invalid_request"), (["--file", NOWHERE, "1"], 2, "not_found"), (["call-none"], 1, "not_found"), (["4711"], 1, "not_found")],
    "audit why": [([], 2, "invalid_request"), (["--file", NOWHERE, "c"], 2, "not_found"), (["call-none"], 1, "not_found")],
    "audit export": [(["--limit", "x"], 2, "invalid_request"), (["--file", NOWHERE], 2, "not_found")],
    "audit verify": [(["--known", "x"], 2, "invalid_request"), (["--file", NOWHERE], 2, "not_found")],
    "doctor": [(["x"], 2, "invalid_request")],
    "config show": [(["--cwd", NOWHERE], 2, "not_found"), (["--profile", "nope"], 2, "invalid_profile"),
                    ([], 2, "invalid_config")],
}
# Every command that takes --profile, with the words that it needs besides.
TAKE_PROFILE = {"run": ["--", "true"], "apply-patch": ["x"], "batch": ["calls"], "mcp": [], "serve": [], "sandbox": ["--", "true"],
                "policy explain": ["--", "ls"], "config show": []}
REPORTS = ("run", "apply-patch")


class JsonFailures(RunCase):
    def setUp(self):
        super().setUp()
        self.env["XDG_STATE_HOME"] = self.base + "/state"
        for name, text in (("calls", '{"arguments": {"command": "true"}}\n'), ("none.rules", ""), ("token", "x")):
            with open(self.ws + "/" + name, "w", encoding="utf-8") as file:
                file.write(text)
        os.chmod(self.ws + "/token", 0o600)
        self.assertEqual(self.gatehouse("run", "--", "true").returncode, 0)  # so that there is an audit

    def gatehouse(self, *words):
        return subprocess.run([GATEHOUSE, *words], cwd=self.ws, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GRACE_S,
                              check=False)

    def commands(self):
        """Of the help: {name: does it take --json}."""
        names = []
        for line in self.gatehouse("--help").stdout.splitlines():
            words = line.split()
            if not line.startswith("  gatehouse "):
                continue
            group = self.gatehouse(words[1], "--help").stdout if "…" in words[2] else ""
            names += [" ".join(row.split()[1:3]) for row in group.splitlines() if row.startswith("  gatehouse ")]
            if not group:
                names.append(" ".join(words[1:3]) if words[1] == "config" else words[1])
        return {name: "--json" in self.gatehouse("help", *name.split()).stdout for name in names}

    def check(self, name, words, status, kind):
        done = self.gatehouse(*name.split(), "--json", *words)
        told = f"{name} {words}: {done}"
        self.assertEqual(done.returncode, status, told)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 1, told)
        document = json.loads(lines[0])
        self.assertEqual(document["exit_status"], status, told)
        failure = document["failure"]
        self.assertLessEqual({"kind", "message"}, set(failure), told)
        self.assertTrue(failure["message"], told)
        if kind:
            self.assertEqual(failure["kind"], kind, told)
        self.assertIn("gatehouse: " + failure["message"].splitlines()[0], done.stderr, told)
        if name in REPORTS:
            self.assertEqual((document["attempts"], document["reviews"]), ([], []), told)
        else:
            self.assertEqual(set(document), {"failure", "exit_status"}, told)
        # For people the same, and nothing on standard output.
        plain = self.gatehouse(*name.split(), *words)
        if name != "review" and "stdio" not in " ".join(words):
            self.assertEqual((plain.returncode, plain.stdout), (status, ""), told)
            self.assertEqual(plain.stderr, done.stderr, told)
        return failure

    def test_204_every_command_that_takes_json_is_tried(self):
        self.assertEqual({name for name, json_too in self.commands().items() if json_too}, set(WRONG))

    def test_204_an_option_that_is_none_was_told_in_words_only(self):
        for name in WRONG:
            if name == "policy check":  # there it is a word of the command
                continue
            failure = self.check(name, ["--no-such-option"], 2, "invalid_request")
            self.assertIn("gatehouse " + name + " --help", failure["remedy"])

    def test_204_an_error_was_told_in_words_only(self):
        for name, cases in WRONG.items():
            for words, status, kind in cases:
                if kind == "invalid_config":
                    self.write("config.toml", "approval_policy = \n")
                failure = self.check(name, words, status, kind)
                self.assertTrue(failure.get("remedy") or kind in ("invalid_config", None), (name, words, failure))
                if kind == "invalid_config":
                    self.assertIn("config.toml:1", failure["message"])
                    os.remove(self.home + "/config.toml")

    def test_204_a_name_that_is_no_command_was_told_in_words_only(self):
        for words in (["--json"], ["polcy", "--json"], ["audit", "--json"], ["audit", "lst", "--json"], ["config", "--json"]):
            done = self.gatehouse(*words)
            document = json.loads(done.stdout)
            self.assertEqual((done.returncode, document["exit_status"], document["failure"]["kind"]), (2, 2, "invalid_request"), words)

    def test_204_help_of_no_command_was_told_without_a_document_or_with_json_in_its_name(self):
        for words in (["help", "nope", "--json"], ["help", "--json", "nope"]):
            done = self.gatehouse(*words)
            self.assertEqual((done.returncode, json.loads(done.stdout)["failure"]["message"]), (2, "`nope` is not a command"), words)
        done = self.gatehouse("help", "run", "--nope")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("`--nope` is not an option", done.stderr)

    def test_204_an_option_before_the_command_was_told_without_where_it_belongs(self):
        done = self.gatehouse("--json", "run", "--", "true")
        failure = json.loads(done.stdout)["failure"]
        self.assertEqual(done.returncode, 2)
        self.assertIn("`--json` stands where a command must; put the option behind the command", failure["message"])
        self.assertIn("gatehouse run --json", failure["remedy"])

    def test_204_an_option_whose_value_was_forgotten_took_the_option_behind_it(self):
        for option in ("--profile", "--cwd", "--justification"):
            done = self.gatehouse("run", option, "--json", "--", "true")
            self.assertEqual((done.returncode, json.loads(done.stdout)["exit_status"]), (2, 2), option)
            self.assertIn(f"`{option}` needs a value", done.stderr)
            self.assertIn(f"`{option}=--json`", done.stderr)

    def test_204_a_rule_file_that_cannot_be_read_was_told_without_a_next_step_or_with_its_path_twice(self):
        for path in (self.ws, NOWHERE):
            done = self.gatehouse("policy", "test", path)
            self.assertEqual(done.returncode, 1, path)
            self.assertEqual(done.stderr.count(path), 1, done.stderr)
            self.assertIn("next: ", done.stderr)

    def test_205_the_kinds_of_entries_were_not_named(self):
        done = self.gatehouse("audit", "list", "--kind", "bogus")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the kinds are session, request, decision, question,", done.stderr)

    def test_133_a_justification_could_say_something_else_at_a_terminal(self):
        text = "a\x9b31m\u202eb \U000e0041 é"
        with open(self.ws + "/j.rules", "w", encoding="utf-8") as file:
            file.write(f'prefix_rule(pattern=["ls"], decision="prompt", justification="{text}")\n')
        done = self.gatehouse("policy", "check", "--pretty", "--rules", "j.rules", "ls")
        self.assertIn("a\\u009b31m\\u202eb \\udb40\\udc41 é", done.stdout)
        told = json.loads(done.stdout)
        self.assertEqual(told["matchedRules"][0]["prefixRuleMatch"]["justification"], text)

    def test_204_json_among_the_words_of_a_program_asks_for_nothing(self):
        for words in (["run", "--cwd", NOWHERE, "--", "ls", "--json"], ["policy", "check", "--rules", NOWHERE, "ls", "--json"],
                      ["run", "--no-such", "ls", "--json"], ["sandbox", "--no-such", "ls", "--json"], ["runn", "ls", "--json"],
                      ["policy", "explain", "--cwd", "/", "--cwd", "/", "ls", "--json"]):
            done = self.gatehouse(*words)
            self.assertEqual(done.stdout, "", words)
            self.assertNotEqual(done.returncode, 0, words)

    def test_204_json_with_a_value_was_told_in_words_only(self):
        for name in WRONG:
            done = self.gatehouse(*name.split(), "--json=1")
            self.assertEqual((done.returncode, json.loads(done.stdout)["exit_status"]), (2, 2), name)
            self.assertIn("`--json` takes no value; leave `=1` out", done.stderr, name)

    def test_204_a_boundary_was_told_in_words_only(self):
        def explain(*words):
            done = self.gatehouse("sandbox", "--explain", "--json", *words)
            self.assertEqual((done.returncode, done.stderr, done.stdout.count("\n")), (0, "", 1), words)
            return json.loads(done.stdout)

        os.mkdir(self.ws + "/.git")
        held = explain("--deny-read", self.base + "/state", "--", "true")
        self.assertEqual((held["backend"], held["network"], held["profile"]["type"], held["readable"][0]), ("linux", "isolated", "managed", "/"))
        self.assertIn(self.ws, held["writable"])
        self.assertIn(self.ws + "/.git", held["protected"])
        self.assertIn(self.base + "/state", held["hidden"])
        self.assertIn({"kind": "writable", "target": self.ws, "source": self.ws}, held["mounts"])
        self.assertLessEqual({"kind", "path", "folder", "why"}, set(held["guards"][0]))
        self.assertIn("mount", held["system_calls"]["refused"])
        self.assertEqual((explain("--profile", "danger-full-access")["backend"], explain("--net")["network"]), ("none", "full"))
        self.assertIn("(deny default)", explain("--backend", "seatbelt")["policy"])
        self.assertIn(self.ws, explain("--backend", "landlock")["writable"])

    def test_204_json_of_sandbox_was_lost_in_what_its_command_wrote(self):
        done = self.gatehouse("sandbox", "--json", "--", "true")
        self.assertEqual((done.returncode, json.loads(done.stdout)["failure"]["kind"]), (2, "invalid_request"))
        self.assertIn("--json needs --explain", done.stderr)

    def test_43_a_profile_that_there_is_not_was_taken_by_some_commands(self):
        self.write("config.toml", "[permissions.mine]\nextends = 'read-only'\n")
        commands = {name for name in self.commands() if "--profile" in self.gatehouse("help", *name.split()).stdout}
        self.assertEqual(commands, set(TAKE_PROFILE))
        for name, words in TAKE_PROFILE.items():
            done = self.gatehouse(*name.split(), "--profile", "nope", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), name)
            self.assertIn("there is no permission profile `nope`", done.stderr, name)
            self.assertIn("read-only, workspace-write, danger-full-access, mine", done.stderr, name)

    def test_43_a_default_profile_that_there_is_not_was_told_without_its_place(self):
        self.write("config.toml", "\ndefault_permissions = 'nope'\n")
        for words in (["config", "show"], ["run", "--", "true"]):
            done = self.gatehouse(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("config.toml:2", done.stderr, words)

    def test_204_where_a_server_listens_is_also_json(self):
        for words, token in ((["serve", "--console", "--json"], "agent_token_file"), (["exec-server", "--json"], "token_file")):
            with subprocess.Popen([GATEHOUSE, *words], cwd=self.ws, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True) as server:
                places = json.loads(server.stdout.readline())
                server.terminate()
                rest = server.stdout.read()
            self.assertEqual((server.returncode, rest), (0, ""))
            self.assertTrue(places["urls"][0].startswith("ws://127.0.0.1:"), places)
            self.assertTrue(os.path.isfile(places[token]), places)
            if words[0] == "serve":
                self.assertTrue(os.path.isfile(places["reviewer_token_file"]), places)
                self.assertTrue(places["console"].startswith("http://127.0.0.1:"), places)

    def test_204_what_is_wrong_is_told_with_a_next_step(self):
        for words, status, step in ((["batch", "nofile"], 2, "Name a file with one call a line"), (["serve", "--root", NOWHERE], 2, "name another one"),
                                    (["audit", "why", "nope"], 1, "gatehouse audit list"), (["audit", "show", "nope"], 1, "gatehouse audit list"),
                                    (["audit", "list", "--file", NOWHERE], 2, "Correct the path after --file"),
                                    (["audit", "verify", "--known", "17:ab"], 2, "SEQ:HASH"), (["man", "--all", NOWHERE], 1, "name a folder"),
                                    (["apply-patch", "calls"], 2, "gatehouse apply-patch < calls"),
                                    (["policy", "check", "--rules", NOWHERE, "ls"], 1, "gatehouse policy test"), (["load", CLOSED], 1, "Is a server running")):
            done = self.gatehouse(*words)
            self.assertEqual((done.returncode, done.stdout), (status, ""), words)
            self.assertIn(step, done.stderr, words)


if __name__ == "__main__":
    unittest.main()
