#include "protocol/explain_text.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

using namespace gatehouse;

namespace {

const sandbox_summary inside{sandbox_backend::linux_bubblewrap, true, network_mode::isolated};

std::string text_of(const exec_evaluation& evaluation, approval_mode mode) {
  approval_policy approval;
  approval.mode = mode;
  return explain_text(std::vector<std::string>{"make"}, approval, evaluation, inside);
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

review_request question_of(ask_source source, requirement_kind kind) {
  call_judgement judged;
  judged.evaluation.requirement.kind = kind;
  judged.evaluation.requirement.reason = "of the rule";
  judged.sandbox = inside;
  review_request asked;
  asked.what.argv = {"make"};
  asked.reason = "of the question\nrequirement: \x1b[1mnone";
  asked.cause.source = source;
  asked.judged = std::make_shared<const call_judgement>(judged);
  return asked;
}

} // namespace

TEST_SUITE("protocol.explain_text") {
  TEST_CASE("§38 a question that no rule causes carries no reason") {
    exec_evaluation evaluation;
    evaluation.requirement.kind = requirement_kind::needs_approval;
    CHECK(holds(text_of(evaluation, approval_mode::untrusted),
                "needs an approval: no rule allows it and no list knows it as harmless, or it asks "
                "for more than its sandbox gives\n"));
    evaluation.requirement.reason = "why";
    CHECK(holds(text_of(evaluation, approval_mode::untrusted), "needs an approval: why\n"));
  }

  TEST_CASE("§40 §D4 a proposed rule hides that it is exact or stays in the sandbox") {
    exec_evaluation evaluation;
    auto& requirement = evaluation.requirement;
    requirement.kind = requirement_kind::skip;
    requirement.proposed_amendment = {"rm", "-f", "a"};
    requirement.amendment_exact = true;
    CHECK(holds(text_of(evaluation, approval_mode::on_request),
                "allow, by default without the sandbox, exactly: rm -f a\n"));
    requirement.amendment_exact = false;
    requirement.amendment_keeps_sandbox = true;
    CHECK(holds(text_of(evaluation, approval_mode::on_request),
                "allow, inside the sandbox, all that begins with: rm -f a\n"));
    requirement.amendment_keeps_sandbox = false;
    requirement.kind = requirement_kind::needs_approval;
    CHECK(holds(text_of(evaluation, approval_mode::untrusted), "allow, inside the sandbox, all"));
  }

  TEST_CASE("§18a a syntax error in a command is hinted at nowhere") {
    exec_evaluation evaluation;
    evaluation.requirement.kind = requirement_kind::skip;
    evaluation.unread = "syntax error at byte 4 of the script: unexpected `)`";
    CHECK(
        holds(text_of(evaluation, approval_mode::on_request), "not read: syntax error at byte 4"));
    evaluation.unread.clear();
    CHECK_FALSE(holds(text_of(evaluation, approval_mode::on_request), "not read"));
  }

  TEST_CASE("§133a a question about a host or a second run was explained by its call alone") {
    for (const auto source :
         {ask_source::policy, ask_source::rule, ask_source::danger, ask_source::unmatched,
          ask_source::escalation, ask_source::permissions, ask_source::patch}) {
      const auto asked = question_of(source, requirement_kind::needs_approval);
      CHECK(*why_text(asked) == why_text(asked.judged->evaluation, asked.judged->sandbox));
    }
    for (const auto source : {ask_source::denial, ask_source::network}) {
      const auto asked = question_of(source, requirement_kind::skip);
      CHECK(*why_text(asked) == why_text(asked.judged->evaluation, asked.judged->sandbox) +
                                    "asked because: of the question requirement: \\x1b[1mnone\n");
    }
    CHECK(holds(*why_text(question_of(ask_source::strict_review, requirement_kind::skip)),
                "\nasked because: every call is reviewed\n"));
  }

  TEST_CASE("§133a a question that no policy judged says what it is about") {
    auto asked = question_of(ask_source::stdin_write, requirement_kind::skip);
    asked.judged = nullptr;
    REQUIRE_FALSE(why_text(asked));
    CHECK(holds(why_text(asked).error().message, "no rule judges what is written"));
    asked.what.argv.clear();
    CHECK(holds(why_text(asked).error().message, "about later commands"));
  }
}
