"""§204 Completions in the real shells, manual pages under the real man, and what wrong words get."""
import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ["GATEHOUSE_BUILD_DIR"])
GATEHOUSE = str(BUILD / "gatehouse")
HOME = tempfile.TemporaryDirectory()  # shells keep a history and settings there
ENV = {"PATH": f"{BUILD}:/usr/local/bin:/usr/bin:/bin", "HOME": HOME.name, "TERM": "dumb", "LANG": "C.UTF-8"}

# What is typed → words that must be offered, words that must not.
OFFERS = [
    ("gatehouse po", ["policy"], ["run"]),
    ("gatehouse policy ", ["explain", "check", "test", "replay"], ["run"]),
    ("gatehouse run --prof", ["--profile"], ["--ask"]),
    ("gatehouse run --profile read", ["read-only"], ["workspace-write"]),
    ("gatehouse run --ask u", ["untrusted"], ["never"]),
    ("gatehouse run --cwd /us", ["/usr"], []),
    ("gatehouse run -- trunc", ["truncate"], []),
    ("gatehouse policy explain --ask n", ["never"], ["untrusted"]),
    ("gatehouse policy test /etc/hostn", ["/etc/hostname"], []),
    ("gatehouse help exit", ["exit-status"], []),
    ("gatehouse completions f", ["fish"], ["bash"]),
    # After -- the words are the command's.
    ("gatehouse run -- ls --prof", [], ["--profile"]),
]


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, argv):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(argv[0], argv, ENV | {"COLUMNS": "200"})
        self.text = ""

    def wait_for(self, mark, seconds=20):
        end = time.monotonic() + seconds
        while mark not in self.text:
            if time.monotonic() > end or not select.select([self.fd], [], [], 1)[0]:
                if time.monotonic() > end:
                    raise AssertionError(f"no {mark!r} in {self.text!r}")
                continue
            self.text += os.read(self.fd, 65536).decode(errors="replace")

    def type(self, text):
        self.text = ""
        os.write(self.fd, text.encode())

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


class Completions(unittest.TestCase):
    def check(self, offered, line, wanted, unwanted):
        words = [word.rstrip("/") for word in offered]
        for word in wanted:
            self.assertIn(word, words, line)
        for word in unwanted:
            self.assertNotIn(word, words, line)

    def test_bash(self):
        script = 'source <(gatehouse completions bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gatehouse; printf "%s\\n" "${COMPREPLY[@]}"'
        for line, wanted, unwanted in OFFERS:
            said = subprocess.run(["bash", "--norc", "-c", script, "bash", *line.split(" ")], env=ENV, capture_output=True, text=True)
            self.check(said.stdout.splitlines(), line, wanted, unwanted)
            errors = [e for e in said.stderr.splitlines() if "not currently executing completion" not in e]
            self.assertEqual(errors, [], line)

    def test_fish(self):
        for line, wanted, unwanted in OFFERS:
            said = subprocess.run(["fish", "--no-config", "-c", 'gatehouse completions fish | source; complete -C "$argv[1]"', line],
                                  env=ENV, capture_output=True, text=True)
            self.check([one.split("\t")[0] for one in said.stdout.splitlines()], line, wanted, unwanted)
            self.assertEqual(said.stderr, "", line)

    def in_terminal(self, argv, set_up):
        """Types each line and Tab into the shell; what stands on the line then begins with what was offered."""
        shell = Terminal(argv)
        try:
            shell.type(set_up + "; echo SET'UP'\n")
            shell.wait_for("SETUP\r\n")
            for line, wanted, _ in OFFERS:
                if len(wanted) != 1:
                    continue
                shell.type(line + "\t")
                shell.wait_for(wanted[0])
                shell.type("\x15")
        finally:
            shell.close()

    def test_bash_at_a_terminal(self):
        self.in_terminal(["bash", "--norc", "-i"], "source <(gatehouse completions bash)")

    def test_zsh_at_a_terminal(self):
        self.in_terminal(["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u -D; source <(gatehouse completions zsh)")

    def test_zsh_offers_no_option_after_the_dashes(self):
        shell = Terminal(["zsh", "-f", "-i"])
        try:
            shell.type("autoload -Uz compinit; compinit -u -D; source <(gatehouse completions zsh); echo SET'UP'\n")
            shell.wait_for("SETUP\r\n")
            shell.type("gatehouse run -- echo --prof\t; echo EN'D'\n")
            shell.wait_for("END\r\n")
            self.assertNotIn("--profile", shell.text)
        finally:
            shell.close()


class Manual(unittest.TestCase):
    def test_every_page_formats_without_a_warning_and_has_its_examples(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            subprocess.run([GATEHOUSE, "man", "--all", folder], env=ENV, check=True)
            pages = sorted(pathlib.Path(folder).iterdir())
            self.assertGreater(len(pages), 12)
            for page in pages:
                said = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", str(page)], env=ENV | {"MANWIDTH": "100"},
                                      capture_output=True, text=True)
                self.assertEqual((said.returncode, said.stderr), (0, ""), page.name)
                for title in ["NAME", "SYNOPSIS", "EXIT STATUS"]:
                    self.assertIn(title, said.stdout, page.name)
            text = subprocess.run(["man", "-E", "UTF-8", "-l", f"{folder}/gatehouse-run.1"], env=ENV | {"MANWIDTH": "100"},
                                  capture_output=True, text=True, check=True).stdout
            self.assertIn("gatehouse run --profile workspace-write -- make test", text)
            self.assertIn("--shell STRING", text)

    def test_a_folder_that_is_not_there_is_an_error_with_its_name(self):
        said = subprocess.run([GATEHOUSE, "man", "--all", "/nonexistent/x"], env=ENV, capture_output=True, text=True)
        self.assertEqual(said.returncode, 1)
        self.assertIn("/nonexistent/x/gatehouse.1", said.stderr)


class Words(unittest.TestCase):
    def run_it(self, *words):
        return subprocess.run([GATEHOUSE, *words], env=ENV, capture_output=True, text=True)

    def test_help_is_the_same_by_both_ways_and_of_both_programs(self):
        for name in ["run", "serve", "policy explain", "doctor"]:
            words = name.split()
            asked = self.run_it("help", *words)
            self.assertEqual((asked.returncode, asked.stderr), (0, ""))
            self.assertEqual(self.run_it(*words, "--help").stdout, asked.stdout)
            self.assertEqual(self.run_it(*words, "-h").stdout, asked.stdout)

    def test_wrong_words_are_answered_with_the_next_step_and_status_2(self):
        for words, said in [((), "a command is missing"), (("rnu",), "did you mean"), (("snadbox",), "did you mean `sandbox`"),
                            (("policy",), "explain, check, test, replay"), (("policy", "x"), "not a command of `policy`"),
                            (("run", "--jsno", "--", "true"), "did you mean `--json`"), (("doctor", "x"), "one word too many"),
                            (("completions", "ksh"), "bash, zsh or fish"), (("help", "nothing-such"), "not a command"),
                            (("man", "nothing-such"), "not a command"), (("serve", "x"), "one word too many")]:
            got = self.run_it(*words)
            self.assertEqual(got.returncode, 2, words)
            self.assertEqual(got.stdout, "", words)
            if said != "did you mean":
                self.assertIn(said, got.stderr, words)
            self.assertIn("--help", got.stderr, words)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
