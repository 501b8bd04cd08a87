"""Stage 10: what the pages claim holds: samples are read without a complaint, commands and linked pages exist."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.path.join(os.environ["GATEHOUSE_BUILD_DIR"], "gatehouse")
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")])


def samples(page, info):
    """The fenced blocks of a page whose info string is `info`, with the line they start at."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```" + info + r"\n(.*?)^```$", text, re.M | re.S):
        yield text.count("\n", 0, found.start()) + 1, found[1]


class Pages(unittest.TestCase):
    def run_program(self, *arguments, home="/nonexistent"):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=60, cwd="/",
                              stdin=subprocess.DEVNULL, env={**os.environ, "GATEHOUSE_HOME": home})

    def each(self, info, check):
        """Calls check(empty folder, sample) for every sample; returns how many there are."""
        count = 0
        for page in PAGES:
            for line, text in samples(page, info):
                count += 1
                with self.subTest(page=page.name, line=line), tempfile.TemporaryDirectory() as folder:
                    check(folder, text)
        return count

    def test_rule_samples_load_and_their_examples_hold(self):
        def check(folder, text):
            file = os.path.join(folder, "sample.rules")
            pathlib.Path(file).write_text(text, encoding="utf-8")
            done = self.run_program("policy", "test", file)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(self.each("starlark", check), 4)

    def test_configuration_samples_are_understood_wholly(self):
        def check(folder, text):
            if "[mcp_servers." in text or "toolName" in text:
                return  # another program's file
            pathlib.Path(folder, "config.toml").write_text(text, encoding="utf-8")
            done = self.run_program("config", "show", home=folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(self.each("toml", check), 8)

    def test_a_link_leads_to_a_page_that_exists(self):
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            for name in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", text) + re.findall(r"\bdocs/[a-z-]+\.md\b", text):
                place = ROOT / name if name.startswith("docs/") else page.parent / name
                self.assertTrue(place.exists(), f"{page.name}: {name}")

    def test_a_command_that_a_page_shows_exists(self):
        words = set()
        for page in PAGES:
            words |= set(re.findall(r"\bgatehouse ((?:policy |config |audit )?[a-z][a-z-]+)\b", "\n".join(
                [text for kind in ("", "sh", "shell") for _, text in samples(page, kind)] +
                re.findall(r"`(gatehouse [^`]+)`", page.read_text(encoding="utf-8")))))
        words.discard("file-call")  # its requests come on standard input, from our own programs only
        self.assertGreater(len(words), 8)
        for word in sorted(words):
            with self.subTest(command=word):
                done = self.run_program(*word.split(), "--help")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_index_for_agents_names_every_page(self):
        index = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
        for page in ROOT.glob("docs/*.md"):
            self.assertIn(page.name, index)


if __name__ == "__main__":
    unittest.main(verbosity=2)
