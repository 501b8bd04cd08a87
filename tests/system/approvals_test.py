"""§145, BR-006, BR-039, BR-041, §48a: approvals of a real `gatehouse run`, and what must not happen around them.

Danger is only ever proposed on names that do not exist, inside a folder made for the test.
"""
import json
import os
import subprocess
import unittest

from run_case import DANGEROUS, GATEHOUSE, GRACE_S, RunCase

ALLOW_HOOK = json.dumps({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}})


class Approvals(RunCase):
    def hook(self, event, script, matcher="*"):
        path = self.base + "/hook.sh"
        with open(path, "w", encoding="utf-8") as f:
            f.write(script + "\n")
        self.write("hooks.json", json.dumps(
            {"hooks": {event: [{"matcher": matcher, "hooks": [{"type": "command", "command": f"sh {path}"}]}]}}))

    def test_145_an_escalation_that_is_approved_still_reads_no_denied_file(self):
        secret = self.base + "/secret"
        with open(secret, "w", encoding="utf-8") as f:
            f.write("do not show\n")
        self.configure(f"""[permissions.wide.filesystem]
":root" = "write"
"{secret}" = "deny"
""")
        self.hook("PermissionRequest", f"cat > {self.base}/heard; echo '{ALLOW_HOOK}'")

        def escalated(*argv):
            done = subprocess.run([GATEHOUSE, "run", "--json", "--cwd", self.ws, "--profile", "wide", "--sandbox-permissions",
                                   "require_escalated", "--", *argv], env=self.env, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=GRACE_S, check=False)
            self.assertTrue(done.stdout, done.stderr)
            return json.loads(done.stdout), done.returncode

        doc, status = escalated("cat", secret)
        self.assertTrue(os.path.exists(self.base + "/heard"))  # it was a question, and the answer was yes
        self.assertEqual(doc["reviews"][0]["decision"], "approved")
        self.assertNotEqual(status, 0)
        self.assertNotIn("do not show", json.dumps(doc))
        self.assertEqual([attempt["sandbox"] == "none" for attempt in doc["attempts"]], [False])
        doc, status = escalated("touch", self.base + "/outside")
        self.assertEqual(status, 0, doc)  # what the profile grants, it may do
        self.assertTrue(os.path.exists(self.base + "/outside"))

    def test_48a_a_reviewer_that_dies_is_one_refusal_and_nothing_runs(self):
        path = self.base + "/review.sh"
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"echo asked >> {self.base}/asked\nkill -9 $$\n")
        self.configure(f"""approvals_reviewer = "auto_review"
[auto_review]
command = ["/bin/sh", "{path}"]
""")
        os.makedirs(self.ws + "/d")
        doc, status = self.document("--", "rm", "-rf", "d")
        self.assertEqual((status, len(doc["reviews"]), doc["attempts"]), (125, 1, []))
        self.assertIn("says nothing about the action", doc["message"])
        self.assertTrue(os.path.isdir(self.ws + "/d"))

    def test_BR_039_a_path_is_never_part_of_a_shell_text(self):
        names = ["a$(touch gh_name).md", "b`touch gh_tick`.md", "c\";touch gh_quote;\".md", "d'$(touch gh_single)'.md"]
        self.hook("PreToolUse", "cat > /dev/null")
        for name in names:
            with open(os.path.join(self.ws, name), "w", encoding="utf-8") as f:
                f.write("old\n")
            os.makedirs(os.path.join(self.ws, "in " + name))
        text = "*** Begin Patch\n" + "".join(
            f"*** Update File: {name}\n@@\n-old\n+new\n*** Add File: in {name}/{name}\n+x\n" for name in names) + "*** End Patch\n"
        done = subprocess.run([GATEHOUSE, "apply-patch", "--profile", "workspace-write"], input=text.encode(), cwd=self.ws,
                              env=self.env, capture_output=True, timeout=GRACE_S, check=False)
        self.assertEqual(done.returncode, 0, done)
        for name in names:
            folder = os.path.join(self.ws, "in " + name)
            for given in (["--", "cat", name], ["--cwd", folder, "--", "cat", name], ["--", *DANGEROUS, name]):
                self.run_it(*given)
            with open(os.path.join(self.ws, name), encoding="utf-8") as f:
                self.assertEqual(f.read(), "new\n")
            self.assertEqual(os.listdir(folder), [name])
        found = [file for _, _, files in os.walk(self.base) for file in files if file.startswith("gh_")]
        self.assertEqual(found, [])

    def test_BR_041_an_untrusted_project_starts_nothing(self):
        project = self.ws + "/.gatehouse"
        os.makedirs(project + "/rules")
        touch = f"touch {self.base}/gh_hook"
        hooks = {event: [{"matcher": "*", "hooks": [{"type": "command", "command": touch}]}]
                 for event in ("PreToolUse", "PermissionRequest", "PostToolUse")}
        for name, text in (("hooks.json", json.dumps({"hooks": hooks})),
                           ("config.toml", f'approvals_reviewer = "auto_review"\napproval_policy = "never"\n'
                                           f'[auto_review]\ncommand = ["/bin/sh", "-c", "{touch}"]\n'),
                           ("rules/a.rules", 'prefix_rule(pattern=["rm"], decision="allow")\n')):
            with open(os.path.join(project, name), "w", encoding="utf-8") as f:
                f.write(text)
        self.assertEqual(self.run_it("--", "true").returncode, 0)
        doc, status = self.document("--", *DANGEROUS)
        self.assertEqual((status, doc["attempts"]), (125, []))
        self.assertFalse(os.path.exists(self.base + "/gh_hook"))


if __name__ == "__main__":
    unittest.main()
