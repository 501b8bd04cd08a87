"""Every report of tests/cases/bug_report_ids.txt stands in the name of a test or in docs/known-limits.md, and no other."""
import os
import re
import unittest

SOURCE = os.environ["GATEHOUSE_SOURCE_DIR"]
TESTS = os.path.join(SOURCE, "tests")
ID = re.compile(r"br[-_]?(\d{3})(?!\d)", re.IGNORECASE)
# A test's name: the words of TEST_CASE, of node's test(), of a Python method or of the line that describes it.
NAMES = {".cpp": re.compile(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)'),
         ".mjs": re.compile(r"^test\(\s*(['`\"].*)", re.MULTILINE),
         ".py": re.compile(r'def (test_\w+\(self\):(?:\n\s+"""[^\n]*)?)')}


def ids_in(text):
    return {"BR-" + number for number in ID.findall(text)}


def named():
    """id -> the files with a test of that name"""
    found = {}
    for folder, _, files in os.walk(TESTS):
        for name in files:
            pattern = NAMES.get(os.path.splitext(name)[1])
            if not pattern or "node_modules" in folder:
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for test in pattern.findall(file.read()):
                    for one in ids_in(test):
                        found.setdefault(one, set()).add(os.path.join(folder, name))
    return found


class Ids(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(TESTS, "cases/bug_report_ids.txt"), encoding="ascii") as file:
            self.known = {line.split()[0] for line in file if not line.startswith("#")}

    def test_every_report_is_proven_by_a_test_or_named_as_a_limit(self):
        with open(os.path.join(SOURCE, "docs/known-limits.md"), encoding="utf-8") as file:
            limits = {one for line in file if line.startswith("| BR-") for one in ids_in(line.split("|")[1])}
        self.assertEqual(sorted(self.known - set(named()) - limits), [])
        self.assertEqual(sorted(limits - self.known), [])

    def test_no_test_names_a_report_that_is_none(self):
        self.assertEqual({one: files for one, files in named().items() if one not in self.known}, {})


if __name__ == "__main__":
    unittest.main()
