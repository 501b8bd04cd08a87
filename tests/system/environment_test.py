"""BR-198, BR-202: which environment and which shell a command gets, through the real program."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from run_case import GRACE_S

GATEHOUSE = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")


class Environment(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="gatehouse-test-", dir="/var/tmp")
        self.ws = self.base + "/ws"
        self.home = self.base + "/home"
        os.makedirs(self.ws + "/bin")
        os.makedirs(self.home + "/.gatehouse")
        self.env = {"HOME": self.home, "PATH": self.ws + "/bin:/usr/bin:/bin", "SHELL": "/bin/bash"}

    def tearDown(self):
        shutil.rmtree(self.base, ignore_errors=True)

    def run_shell(self, script, *options, **env):
        done = subprocess.run([GATEHOUSE, "run", "--json", "--cwd", self.ws, "--profile", "workspace-write", *options,
                               "--shell", script], env={**self.env, **env}, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=GRACE_S, check=False)
        return json.loads(done.stdout)["stdout"], done.stderr.decode()

    def test_secrets_reach_no_command(self):
        """BR-202 secrets are absent, also from the processes around the command; what the user keeps is there."""
        with open(self.home + "/.gatehouse/config.toml", "w", encoding="utf-8") as f:
            f.write('[environment]\nkeep = ["SENTRY_TOKEN"]\n')
        secrets = {"OPENAI_API_KEY": "secret-1", "GH_TOKEN": "secret-2", "AWS_SECRET_ACCESS_KEY": "secret-3",
                   "MY_PASSWORD": "secret-4", "DATABASE_URL": "postgres://u:secret-5@h/d"}
        out, _ = self.run_shell("env; cat /proc/self/environ /proc/1/environ /proc/$PPID/environ; ps eww -A", **secrets,
                                SENTRY_TOKEN="kept", KEYBOARD="us", TOKENIZERS_PARALLELISM="1")
        self.assertNotIn("secret-", out)
        for there in ("SENTRY_TOKEN=kept", "KEYBOARD=us", "TOKENIZERS_PARALLELISM=1"):
            self.assertIn(there, out)

    def test_a_project_keeps_none(self):
        """BR-202 a trusted project cannot have secrets handed to its commands."""
        os.makedirs(self.ws + "/.gatehouse")
        with open(self.ws + "/.gatehouse/config.toml", "w", encoding="utf-8") as f:
            f.write('[environment]\nkeep = ["GH_TOKEN"]\n')
        with open(self.home + "/.gatehouse/trust.toml", "w", encoding="utf-8") as f:
            f.write(f'trusted = ["{self.ws}"]\n')
        out, err = self.run_shell("env", GH_TOKEN="secret-2")
        self.assertNotIn("secret-", out)
        self.assertIn("environment.keep", err)

    def test_what_is_inherited_can_be_chosen(self):
        """BR-202 all, core or none, and patterns of names; secrets only by name."""
        given = {"SENTRY_TOKEN": "kept", "GH_TOKEN1": "secret-1", "PRIVATEKEY": "secret-2", "NPM_CONFIG__AUTH": "secret-3",
                 "EDITOR": "vi", "MONKEY": "1", "AWS_REGION": "x"}
        for table, there, gone in [
                ('inherit = "core"', ("HOME=", "PATH="), ("EDITOR=", "MONKEY=")),
                ('inherit = "none"', ("NO_COLOR=1",), ("HOME=", "EDITOR=")),
                ('exclude = ["aws_*", "MONKE?"]', ("EDITOR=vi", "HOME="), ("AWS_REGION=", "MONKEY=")),
                ('include = ["PATH", "*TOR"]\nkeep = ["GH_TOKEN1"]', ("EDITOR=vi", "PATH="), ("HOME=", "GH_TOKEN1=")),
                ('keep = ["SENTRY_TOKEN"]', ("SENTRY_TOKEN=kept", "MONKEY=1", "EDITOR=vi"), ())]:
            with open(self.home + "/.gatehouse/config.toml", "w", encoding="utf-8") as f:
                f.write(f"[environment]\n{table}\n")
            for out in (self.run_shell("/usr/bin/env", **given)[0],
                        subprocess.run([GATEHOUSE, "sandbox", "--cwd", self.ws, "--", "/usr/bin/env"],
                                       env={**self.env, **given}, capture_output=True, text=True, timeout=GRACE_S,
                                       check=False).stdout + "NO_COLOR=1\n"):
                lines = out.splitlines()
                self.assertNotIn("secret-", out)
                for name in there:
                    self.assertTrue(any(line.startswith(name) for line in lines), (table, name, out))
                for name in gone:
                    self.assertFalse(any(line.startswith(name) for line in lines), (table, name, out))

    def test_nobody_sits_at_a_command(self):
        """BR-135 BR-168 no pager, no colour, no question, whatever is inherited."""
        out, _ = self.run_shell("env", PAGER="less", GIT_PAGER="less", TERM="xterm-256color", SSH_ASKPASS="/bin/false",
                                GIT_ASKPASS="/bin/false", LANG="de_DE.UTF-8")
        lines = out.splitlines()
        for there in ("PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=", "TERM=dumb", "NO_COLOR=1",
                      "GIT_TERMINAL_PROMPT=0", "LANG=C.UTF-8"):
            self.assertIn(there, lines)
        self.assertNotIn("ASKPASS", out)

    def test_path_is_inherited(self):
        """BR-198 without a login shell the PATH stays as it was; a login shell is asked for per call."""
        with open(self.ws + "/bin/gcc", "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n")
        os.chmod(self.ws + "/bin/gcc", 0o755)
        with open(self.home + "/.profile", "w", encoding="utf-8") as f:
            f.write("PATH=/usr/bin:/bin\n")
        out, _ = self.run_shell("command -v gcc; echo $VIRTUAL_ENV", VIRTUAL_ENV="/venv")
        self.assertEqual(out, self.ws + "/bin/gcc\n/venv\n")
        out, _ = self.run_shell("echo $PATH", "--login")
        self.assertEqual(out, "/usr/bin:/bin\n")

    def test_a_shell_that_cannot_be_used(self):
        """BR-198 a SHELL that is none, or has another grammar, gives way to a known one, and it is said."""
        for shell in ("/usr/bin/fish", "/usr/sbin/nologin", "/no/such", "zsh"):
            out, err = self.run_shell("echo $0", SHELL=shell)
            self.assertIn(out, ("/bin/bash\n", "/bin/sh\n"), shell)
            self.assertIn(f"SHELL={shell} ", err)
        out, err = self.run_shell("echo $0")
        self.assertEqual((out, err), ("/bin/bash\n", ""))


if __name__ == "__main__":
    unittest.main()
