#!/usr/bin/env python3
"""§7: `run`, `batch` and `mcp` on machines that the user's configuration names."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from exec_client import GATEHOUSE, Server


class Environments(unittest.TestCase):
    def setUp(self):
        self.base = os.path.realpath(tempfile.mkdtemp(prefix="gatehouse-environments-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.base, True)
        self.env = dict(os.environ, HOME=self.base, GATEHOUSE_HOME=self.base + "/home", XDG_STATE_HOME=self.base + "/state")
        os.mkdir(self.base + "/home")
        self.here = self.folder("here")

    def folder(self, name):
        path = os.path.join(self.base, name)
        os.makedirs(path + "/below")
        for place, text in ((path, name), (path + "/below", "below " + name)):
            with open(place + "/marker", "w", encoding="utf-8") as file:
                file.write(text + "\n")
        return path

    def machine(self, name, *options):
        server = Server(*(options or ["--no-auth"]), env=self.env, cwd="/")
        self.addCleanup(server.__exit__)
        return server, self.folder(name)

    def configure(self, text):
        with open(self.base + "/home/config.toml", "w", encoding="utf-8") as file:
            file.write(text)

    @staticmethod
    def entry(name, url, cwd, more=""):
        return f'[environments.{name}]\nexec_server = "{url}"\ncwd = "{cwd}"\n{more}'

    def two_machines(self):
        (one, self.one), (two, self.two) = self.machine("one"), self.machine("two")
        self.configure(self.entry("one", one.url, self.one) + self.entry("two", two.url, self.two))

    def command(self, *words, text=None):
        return subprocess.run([GATEHOUSE, *words], env=self.env, cwd=self.here, capture_output=True, text=True, timeout=120,
                              input=text or "")

    def run_on(self, *options, command=("cat", "marker")):
        return self.command("run", "--profile", "workspace-write", *options, "--", *command)

    def test_7_the_same_command_runs_in_the_place_that_is_named(self):
        self.two_machines()
        for options, said in ((["--environment", "one"], "one\n"), (["--environment", "two"], "two\n"),
                              (["--environment", "two", "--cwd", "below"], "below two\n"),
                              (["--environment", "two", "--cwd", self.one], "one\n"),
                              (["--environment", "local"], "here\n"), ([], "here\n")):
            run = self.run_on(*options)
            self.assertEqual((run.returncode, run.stdout), (0, said), (options, run.stderr))
        made = self.run_on("--environment", "one", command=("sh", "-c", "echo x > made; echo x > ../two/made"))
        self.assertNotEqual(made.returncode, 0)
        self.assertTrue(os.path.exists(self.one + "/made"))
        self.assertFalse(os.path.exists(self.two + "/made"))

    def test_D13_a_command_on_one_machine_read_the_token_of_another_that_its_user_has_there(self):
        token = self.base + "/other.token"
        with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write("secret-of-the-other-" * 2 + "\n")
        other = self.entry("other", "ws://127.0.0.1:9", "/", f'token_file = "{token}"\n')
        self.configure(other)
        server, folder = self.machine("one")
        self.configure(self.entry("one", server.url, folder) + other)
        for command in (("cat", token), ("mv", token, token + "2")):
            run = self.run_on("--environment", "one", command=command)
            self.assertNotEqual(run.returncode, 0, run.stdout)
            self.assertNotIn("secret-of", run.stdout)
        self.assertTrue(os.path.exists(token))

    def test_7_what_is_wrong_is_said_and_nothing_runs(self):
        self.two_machines()
        for words, part in ((["--environment", "three"], "known are `local`, `one`, `two`"),
                            (["--environment", "one", "--exec-server", "ws://127.0.0.1:9"], "exclude"),
                            (["--environment", "one", "--exec-cwd", "/"], "needs --exec-server")):
            run = self.run_on(*words, command=("touch", "made"))
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(part, run.stderr)
        for text, part in (('[environments.one]\ncwd = "/"\n', "config.toml:1:"),
                           ('[environments.local]\nexec_server = "ws://127.0.0.1:9"\ncwd = "/"\n', "config.toml:1:"),
                           (self.entry("one", "http://127.0.0.1:9", "/"), "config.toml:1): environments.one.exec_server"),
                           (self.entry("one", "ws://192.0.2.1:9", "/"), "not encrypted")):
            self.configure(text)
            run = self.run_on("--environment", "one", command=("touch", "made"))
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(part, run.stderr)
        for place in (self.here, self.one, self.two):
            self.assertFalse(os.path.exists(place + "/made"))

    def test_7_a_token_is_sent_and_must_be_the_users_alone(self):
        token = self.base + "/there.token"
        server, there = self.machine("there", "--token-file", token)
        self.configure(self.entry("there", server.url, there, f'token_file = "{token}"\n'))
        run = self.run_on("--environment", "there")
        self.assertEqual((run.returncode, run.stdout), (0, "there\n"), run.stderr)
        here = self.run_on(command=("cat", token))  # no command here sees it either
        self.assertNotEqual(here.returncode, 0)
        self.assertEqual(here.stdout, "")
        os.chmod(token, 0o644)
        run = self.run_on("--environment", "there")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("can be read by others", run.stderr)

    def test_7_48_a_hook_was_not_told_that_a_call_is_for_another_machine(self):
        self.two_machines()
        heard = self.base + "/heard"
        with open(self.base + "/home/hooks.json", "w", encoding="utf-8") as file:
            json.dump({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": f"cat >> {heard}"}]}]}}, file)
        for options in (["--environment", "two"], []):
            self.assertEqual(self.run_on(*options).returncode, 0)
        with open(heard, encoding="utf-8") as file:
            there, here = [json.loads(line) for line in file]
        self.assertEqual((there.get("environment_id"), there["cwd"]), ("two", self.two))
        self.assertEqual((here.get("environment_id"), here["cwd"]), (None, self.here))

    def test_7_43_a_project_cannot_name_an_environment(self):
        self.two_machines()
        os.mkdir(self.here + "/.gatehouse")
        with open(self.here + "/.gatehouse/config.toml", "w", encoding="utf-8") as file:
            file.write(self.entry("mine", "ws://127.0.0.1:9", "/") + self.entry("one", "ws://127.0.0.1:9", "/"))
        with open(self.base + "/home/trust.toml", "w", encoding="utf-8") as file:
            file.write(f'trusted = ["{self.here}"]\n')
        run = self.run_on("--environment", "mine")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("no environment `mine`", run.stderr)
        run = self.run_on("--environment", "one")
        self.assertEqual((run.returncode, run.stdout), (0, "one\n"), run.stderr)
        shown = self.command("config", "show", "--json")
        self.assertIn("`environments` is ignored", shown.stdout)

    def test_7_202_a_batch_runs_in_the_place_that_is_named(self):
        self.two_machines()
        calls = "".join(json.dumps({"arguments": {"command": text}}) + "\n" for text in ("cat marker", "pwd"))
        for options, told in (([], ["two\n", self.two + "\n"]), (["--cwd", "below"], ["below two\n", self.two + "/below\n"])):
            run = self.command("batch", "--environment", "two", "--profile", "workspace-write", "--order", "input", *options,
                               "-", text=calls)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual([json.loads(line)["result"]["output"] for line in run.stdout.splitlines()], told)
        run = self.command("batch", "--environment", "three", "-", text=calls)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertIn("known are", run.stderr)

    def test_7_202_a_batch_asks_a_daemon_for_the_place(self):
        self.two_machines()
        daemon = subprocess.Popen([GATEHOUSE, "serve", "--profile", "workspace-write"], env=self.env, cwd=self.here,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(daemon.stdout.close)
        self.addCleanup(daemon.wait, 30)
        self.addCleanup(daemon.terminate)
        url = daemon.stdout.readline().strip()
        calls = json.dumps({"arguments": {"command": "cat marker"}}) + "\n"
        for options, told in ((["--environment", "one"], "one\n"), (["--environment", "two", "--cwd", "below"], "below two\n"),
                              (["--environment", "local"], "here\n"), ([], "here\n")):
            run = self.command("batch", "--url", url, *options, "-", text=calls)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(json.loads(run.stdout)["result"]["output"], told)

    def test_7_201_mcp_calls_run_in_the_place_that_is_named(self):
        self.two_machines()
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
        server = subprocess.Popen([GATEHOUSE, "mcp", "--environment", "two", "--profile", "workspace-write"], env=self.env,
                                  cwd=self.here, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait, 30)
        self.addCleanup(server.stdin.close)
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "shell_command", "arguments": {"command": "cat marker"}, "_meta": meta}}) + "\n")
        server.stdin.flush()
        self.assertIn("two", json.dumps(json.loads(server.stdout.readline())["result"]))


if __name__ == "__main__":
    unittest.main()
