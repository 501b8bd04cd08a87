"""§50 A yes is about the folders that stood there when the question was asked."""
import os
import unittest

from run_case import GATEHOUSE, RunCase, answer_at_terminal

ESCALATED = ["--sandbox-permissions", "require_escalated", "--justification", "test"]


class AskedFolder(RunCase):
    def setUp(self):
        super().setUp()
        self.folder, self.other = self.base + "/ws/d", self.base + "/other"
        os.makedirs(self.folder)
        os.makedirs(self.other)

    def swap(self):
        os.rename(self.folder, self.folder + "2")
        os.symlink(self.other, self.folder)

    def ask(self, *given, while_it_stands, cwd=None):
        argv = [GATEHOUSE, "run", "--cwd", cwd or self.folder, "--profile", "workspace-write", *given]
        return answer_at_terminal(argv, self.env, [b"y\n"], meanwhile=while_it_stands)

    def test_a_folder_swapped_during_the_question_was_run_in_unsandboxed(self):
        shown, status = self.ask(*ESCALATED, "--", "touch", "swapped", while_it_stands=self.swap)
        self.assertEqual(status, 125, shown)
        self.assertIn("is another one than when you were asked", shown)
        self.assertEqual((os.listdir(self.other), os.listdir(self.folder + "2")), ([], []))

    def test_a_folder_swapped_during_the_question_became_a_writable_root(self):
        with open(self.other + "/kept", "w", encoding="ascii"):
            pass
        shown, status = self.ask("--", "rm", "-rf", "kept", while_it_stands=self.swap)
        self.assertEqual(status, 125, shown)
        self.assertEqual(os.listdir(self.other), ["kept"])

    def test_a_patch_was_applied_in_a_folder_that_nobody_was_asked_about(self):
        patch = "*** Begin Patch\n*** Add File: made\n+x\n*** End Patch"
        self.configure('approval_policy = "untrusted"\n')
        shown, status = self.ask("--ask", "untrusted", "--", "apply_patch", patch, while_it_stands=self.swap)
        self.assertNotEqual(status, 0, shown)
        self.assertEqual(os.listdir(self.other), [], shown)

    def test_a_folder_opened_by_the_question_was_another_one_after_it(self):
        wish = '{"file_system": {"write": ["%s"]}}' % self.folder
        shown, status = self.ask("--sandbox-permissions", "with_additional_permissions", "--justification", "test",
                                 "--additional-permissions", wish, "--", "touch", self.folder + "/made",
                                 while_it_stands=self.swap, cwd=self.ws)
        self.assertEqual(os.listdir(self.other), [], shown)
        self.assertEqual(status, 125, shown)

    def test_a_workspace_behind_a_link_goes_on_working(self):
        link = self.base + "/link"
        os.symlink(self.folder, link)
        shown, status = self.ask(*ESCALATED, "--", "touch", "made", while_it_stands=lambda: None, cwd=link)
        self.assertEqual(status, 0, shown)
        self.assertEqual(os.listdir(self.folder), ["made"])

    def test_files_that_change_in_the_folder_do_not_matter(self):
        def write():
            with open(self.folder + "/file", "w", encoding="ascii"):
                pass
        shown, status = self.ask(*ESCALATED, "--", "true", while_it_stands=write)
        self.assertEqual(status, 0, shown)


if __name__ == "__main__":
    unittest.main()
