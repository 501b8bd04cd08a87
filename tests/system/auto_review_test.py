"""§48a §49 §D9 The automatic reviewer of a real `gatehouse run`: what it is shown, what it may decide, and that its
failures are never a yes.

Danger is only ever proposed on names that do not exist, inside a folder made for the test.
"""
import json
import os
import unittest

from run_case import DANGEROUS, RunCase

ALLOW = {"outcome": "allow", "risk_level": "low", "user_authorization": "high", "rationale": "asked for"}


class AutoReview(RunCase):
    def reviewer(self, script, strict=False, timeout_ms=20000):
        path = self.base + "/review.sh"
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"cat > {self.base}/shown\n{script}\n")
        self.configure(f"""approvals_reviewer = "auto_review"
[auto_review]
command = ["/bin/sh", "{path}"]
timeout_ms = {timeout_ms}
strict = {str(strict).lower()}
""")

    def says(self, answer, **more):
        self.reviewer("echo '" + json.dumps(answer) + "'", **more)

    def review(self, *given):
        doc, status = self.document(*given)
        return doc["reviews"][0], status, doc

    def test_an_allow_runs_the_very_action_it_was_shown(self):
        self.says(ALLOW)
        review, status, _ = self.review("--justification", "tidy", "--", *DANGEROUS)
        self.assertEqual((status, review["reviewer"], review["decision"]), (0, "guardian", "approved"))
        with open(self.base + "/shown", encoding="utf-8") as f:
            shown = json.load(f)
        action = json.JSONDecoder().raw_decode(shown["prompt"].split("Planned action JSON:\n")[1])[0]
        self.assertEqual((action["command"], action["cwd"], action["justification"]), (DANGEROUS, self.ws, "tidy"))
        self.assertEqual(shown["answer_schema"]["required"][0], "outcome")

    def test_a_denial_is_a_refusal_with_its_rationale(self):
        self.says({"outcome": "deny", "rationale": "not asked for"})
        review, status, doc = self.review("--", *DANGEROUS)
        self.assertEqual((status, review["reviewer"], review["decision"]), (125, "guardian", "denied"))
        self.assertIn("not asked for", doc["message"])

    def test_an_allow_that_is_too_bold_is_a_refusal(self):
        for risk, authorization in (("critical", "high"), ("high", "low"), ("high", "unknown")):
            with self.subTest(risk=risk, authorization=authorization):
                self.says(dict(ALLOW, risk_level=risk, user_authorization=authorization))
                review, status, _ = self.review("--", *DANGEROUS)
                self.assertEqual((status, review["reviewer"]), (125, "guardian"))

    def test_a_failure_is_no_verdict_and_never_a_yes(self):
        allow = "echo '" + json.dumps(ALLOW) + "'"
        for script in ("sleep 100", allow + "; sleep 100", allow + "; exit 1", "kill -9 $$", "echo yes", "",
                       "echo 'Sure:'; " + allow, "/no/such/reviewer"):
            with self.subTest(script=script):
                self.reviewer(script, timeout_ms=500)
                review, status, doc = self.review("--", *DANGEROUS)
                self.assertEqual((status, review["reviewer"]), (125, "none"))
                self.assertIn(review["decision"], ("denied", "timed_out"))
                self.assertIn("says nothing about the action", doc["message"])

    def test_it_answers_no_question_of_untrusted(self):
        self.says(ALLOW)
        review, status, _ = self.review("--ask", "untrusted", "--", "touch", "made")
        self.assertEqual((status, review["reviewer"]), (125, "none"))

    def test_strict_review_asks_about_every_call(self):
        self.says({"outcome": "deny"}, strict=True)
        for policy in ("on-request", "untrusted", "never"):
            review, status, _ = self.review("--ask", policy, "--", "ls")
            self.assertEqual((status, review["reviewer"]), (125, "guardian"))
        self.says(ALLOW, strict=True)
        review, status, _ = self.review("--", "touch", "made")
        self.assertEqual((status, review["decision"]), (0, "approved"))
        self.assertEqual(os.listdir(self.ws), ["made"])

    def test_automatic_review_without_a_reviewer_runs_nothing(self):
        for text in ('approvals_reviewer = "auto_review"\n', "[auto_review]\nstrict = true\n"):
            self.configure(text)
            done = self.run_it("--", "touch", "made")
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"auto_review.command", done.stderr)
            self.assertEqual(os.listdir(self.ws), [])


if __name__ == "__main__":
    unittest.main()
