"""§48 §D8 Hooks of a real `gatehouse run`: what they hear, what they may decide, and that their failures stay strict.

Danger is only ever proposed on names that do not exist, inside a folder made for the test.
"""
import json
import os
import unittest

from run_case import DANGEROUS, GATEHOUSE, RunCase


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

    def test_a_hooks_program_in_the_workspace_was_rewritten_by_a_command_and_ran_outside_the_sandbox(self):
        os.mkdir(self.ws + "/tools")
        program, escaped = self.ws + "/tools/hook.sh", self.base + "/escaped"
        with open(program, "w", encoding="ascii") as f:
            f.write("#!/bin/sh\ncat > /dev/null\n")
        os.chmod(program, 0o755)
        evil = f"printf '#!/bin/sh\\necho > {escaped}\\n' > tools/hook.sh; chmod +x tools/hook.sh"
        for command in ("./tools/hook.sh", program, "sh tools/hook.sh", "cd tools && ./hook.sh"):
            self.write("hooks.json", json.dumps({"hooks": {"PreToolUse": [{"hooks": [
                {"type": "command", "command": command}]}]}}))
            patch = "*** Begin Patch\n*** Add File: tools/hook.sh\n+x\n*** End Patch"
            for given in (["sh", "-c", evil], ["sh", "-c", "rm -f tools/hook.sh; " + evil], ["apply_patch", patch],
                          ["sh", "-c", "mv tools aside && mkdir tools && " + evil],
                          ["sh", "-c", "rm -rf tools; mkdir -p tools; " + evil]):
                with self.subTest(command=command, given=given):
                    done = self.run_it("--", *given)
                    self.assertIn(b"lies where commands may write", done.stderr)
                    self.assertEqual(self.run_it("--", "true").returncode, 0)
                    self.assertFalse(os.path.exists(escaped))

    def test_a_hooks_file_behind_a_link_was_rewritten_by_a_command(self):
        os.mkdir(self.ws + "/dotfiles")
        target = self.ws + "/dotfiles/hooks.json"
        with open(target, "w", encoding="ascii") as f:
            f.write("{}")
        os.makedirs(self.home)
        os.symlink(target, self.home + "/hooks.json")
        for command in ("echo x > dotfiles/hooks.json", "mv dotfiles other", "rm dotfiles/hooks.json"):
            done = self.run_it("--", "sh", "-c", command)
            self.assertNotEqual(done.returncode, 0, command)
            with open(target, encoding="ascii") as f:
                self.assertEqual(f.read(), "{}", command)

    def test_a_hooks_file_that_is_not_there_was_said_to_lie_where_commands_may_write(self):
        self.configure('[permissions.everywhere.filesystem]\n":root" = "write"\n')
        self.argv = lambda *given: [GATEHOUSE, "run", "--cwd", self.ws, "--profile", "everywhere", *given]
        self.assertNotIn(b"lies where", self.run_it("--", "true").stderr)
        self.write("hooks.json", '{"hooks": {}}')
        self.assertIn(b"lies where", self.run_it("--", "true").stderr)

    def test_a_permission_request_said_nothing_of_leaving_the_sandbox_or_of_more_permissions(self):
        self.hook("PermissionRequest", "echo '" + answer("PermissionRequest", decision={"behavior": "deny"}) + "'")
        self.run_it("--sandbox-permissions", "require_escalated", "--justification", "j", "--", "touch", "ran")
        heard = self.heard()
        self.assertEqual(heard["tool_input"], {"command": "touch ran", "description": "j"})
        self.assertEqual((heard["sandbox_permissions"], heard["justification"], heard["without_sandbox"]),
                         ("require_escalated", "j", True))
        self.assertIn("j", heard["reason"])
        self.run_it("--sandbox-permissions", "with_additional_permissions", "--additional-permissions",
                    '{"network":{"enabled":true}}', "--justification", "j", "--", "touch", "ran")
        heard = self.heard()
        self.assertEqual((heard["sandbox_permissions"], heard["additional_permissions"], heard["without_sandbox"]),
                         ("with_additional_permissions", {"network": {"enabled": True}}, False))
        self.hook("PreToolUse", "exit 2")
        self.run_it("--sandbox-permissions", "require_escalated", "--justification", "j", "--", "touch", "ran")
        self.assertEqual(self.heard()["sandbox_permissions"], "require_escalated")

    def test_an_automatic_reviewer_in_the_workspace_was_rewritten_by_a_command(self):
        program = self.ws + "/review.sh"
        with open(program, "w", encoding="ascii") as f:
            f.write("#!/bin/sh\nexit 1\n")
        os.chmod(program, 0o755)
        for command in ([program], ["sh", program]):
            self.configure(f"[auto_review]\ncommand = {json.dumps(command)}\n")
            done = self.run_it("--", "sh", "-c", "echo 'exit 0' > review.sh")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(b"auto_review.command", done.stderr)
            with open(program, encoding="ascii") as f:
                self.assertIn("exit 1", f.read())

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
