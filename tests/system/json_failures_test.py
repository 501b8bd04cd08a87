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
    "config show": [(["--cwd", NOWHERE], 2, "not_found"), ([], 2, "invalid_config")],
}
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
