#!/usr/bin/env python3
"""docs/protocol.md says what the program says: its tables are printed by `gatehouse serve --schema-markdown` (§201)."""
import json
import os
import subprocess
import sys
import unittest

GATEHOUSE = os.path.join(os.environ.get("GATEHOUSE_BUILD_DIR", "build/dev"), "gatehouse")
PAGE = os.path.join(os.path.dirname(__file__), "../../docs/protocol.md")
MARK = "renews it. -->\n"


def printed(option):
    return subprocess.run([GATEHOUSE, "serve", option], capture_output=True, text=True, check=True).stdout


class ProtocolDocs(unittest.TestCase):
    def test_the_tables_of_the_page_are_those_of_the_program(self):
        with open(PAGE, encoding="utf-8") as page:
            tables = page.read().split(MARK, 1)[1]
        self.assertEqual(tables.strip(), printed("--schema-markdown").strip(),
                         "run tests/system/protocol_docs_test.py --write")

    def test_every_reference_of_the_schema_has_its_type(self):
        text = printed("--schema")
        schema = json.loads(text)
        for name in [part.split('"')[0] for part in text.split('"#/$defs/')[1:]]:
            self.assertIn(name, schema["$defs"])
        self.assertEqual(schema["methods"]["tool/call"]["caller"], "agent")
        self.assertEqual(schema["methods"]["approval/resolve"]["caller"], "reviewer")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        with open(PAGE, encoding="utf-8") as page:
            head = page.read().split(MARK, 1)[0]
        with open(PAGE, "w", encoding="utf-8") as page:
            page.write(head + MARK + "\n" + printed("--schema-markdown").strip() + "\n")
    else:
        unittest.main()
