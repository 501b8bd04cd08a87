"""§48 §D8 Hooks of a real `gatehouse run`: what they hear, what they may decide, and that their failures stay strict.

Danger is only ever proposed on names that do not exist, inside a folder made for the test.
"""
import json
import os
import unittest

from run_case import DANGEROUS, RunCase


def answer(event, **specific):
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **specific}})


class Hooks(RunCase):
    def hook(self, event, script, **more):
        """One hook: keeps what it hears in <base>/heard, then runs `script`."""
        path = self.base + "/hook.sh"
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"cat > {self.base}/heard\n{script}\n")
        handler = {"type": "command", "command": f"sh {path}", **more}
        self.write("hooks.json", json.dumps({"hooks": {event: [{"matcher": "Bash", "hooks": [handler]}]}}))

    def heard(self):
        with open(self.base + "/heard", encoding="utf-8") as f:
            return json.load(f)

    def test_a_denial_before_the_tool_refuses_it_and_says_why(self):
        self.hook("PreToolUse", "echo not today >&2; exit 2")
        doc, status = self.document("--", "touch", "made")
        self.assertEqual(status, 125)
        self.assertEqual(doc["decision"]["requirement"]["refused_by"], "hook")
        self.assertIn("not today", doc["message"])
        self.assertFalse(os.path.exists(self.ws + "/made"))
        heard = self.heard()
        self.assertEqual((heard["hook_event_name"], heard["tool_name"], heard["cwd"]), ("PreToolUse", "Bash", self.ws))
        self.assertEqual(heard["tool_input"], {"command": "touch made"})

    def test_what_a_hook_wrote_is_what_runs(self):
        self.hook("PreToolUse", "echo '" + answer("PreToolUse", permissionDecision="allow",
                                                  updatedInput={"command": "touch other"}) + "'")
        doc, status = self.document("--shell", "touch made")
        self.assertEqual(status, 0)
        self.assertEqual(os.listdir(self.ws), ["other"])
        self.assertEqual(doc["decision"]["segments"][0]["argv"], ["touch", "other"])

    def test_a_hook_that_fails_blocks_unless_it_may_continue(self):
        for script in ("exit 1", "kill -9 $$", "echo nonsense", "echo '{\"decision\":\"ask\"}'", "exec 1>&-; sleep 100"):
            with self.subTest(script=script):
                self.hook("PreToolUse", script, timeout=1)
                self.assertEqual(self.run_it("--", "true").returncode, 125)
                self.hook("PreToolUse", script, timeout=1, on_failure="continue")
                done = self.run_it("--", "true")
                self.assertEqual(done.returncode, 0)
                self.assertIn(b"hooks.json", done.stderr)

    def test_a_permission_request_is_answered_by_its_hook(self):
        self.hook("PermissionRequest", "echo '" + answer("PermissionRequest", decision={"behavior": "allow"}) + "'")
        doc, status = self.document("--justification", "tidy", "--", *DANGEROUS)
        self.assertEqual((status, doc["reviews"][0]["reviewer"], doc["reviews"][0]["decision"]), (0, "hook", "approved"))
        self.assertEqual(self.heard()["tool_input"]["description"], "tidy")
        self.hook("PermissionRequest", "echo no >&2; exit 2")
        doc, status = self.document("--", *DANGEROUS)
        self.assertEqual((status, doc["reviews"][0]["reviewer"], doc["reviews"][0]["decision"]), (125, "hook", "denied"))

    def test_only_a_well_formed_allow_allows(self):
        for script in ("", "echo '{}'", "echo '[]'", "echo allow", "exit 1", "exit 127", "kill -9 $$",
                       "echo '" + answer("PermissionRequest", decision={"behavior": "alow"}) + "'",
                       "echo '" + answer("PreToolUse", decision={"behavior": "allow"}) + "'",
                       "echo '" + answer("PermissionRequest", decision={"behavior": "allow"}) + "'; exit 3",
                       "head -c 2100000 /dev/zero | tr '\\0' ' '"):
            with self.subTest(script=script):
                self.hook("PermissionRequest", script)
                doc, status = self.document("--", *DANGEROUS)
                self.assertEqual((status, doc["reviews"][0]["reviewer"]), (125, "none"))

    def test_a_result_that_a_hook_takes_away_is_never_shown(self):
        self.hook("PostToolUse", "grep -q s3cret " + self.base + "/heard && { echo removed >&2; exit 2; }; exit 0")
        done = self.run_it("--", "echo", "s3cret")
        self.assertEqual(done.returncode, 0)
        self.assertNotIn(b"s3cret", done.stdout + done.stderr)
        self.assertIn(b"removed", done.stderr)
        self.assertEqual(self.run_it("--", "echo", "open").stdout, b"open\n")

    def test_a_hooks_file_that_is_not_understood_runs_nothing(self):
        for text in ("{", '{"hooks":{"Stop":[]}}', '{"hooks":{"PreToolUse":[{"matcher":"bash","hooks":'
                     '[{"type":"command","command":"true"}]}]}}'):
            with self.subTest(text=text):
                self.write("hooks.json", text)
                done = self.run_it("--", "touch", "made")
                self.assertEqual(done.returncode, 2)
                self.assertIn(b"hooks.json", done.stderr)
                self.assertFalse(os.path.exists(self.ws + "/made"))


if __name__ == "__main__":
    unittest.main()
