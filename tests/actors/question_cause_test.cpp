#include "actors/question_text.hpp"
#include "tests/actors/flow_driver.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

judged_segment segment(segment_judge judge, decision said, std::string word) {
  judged_segment s;
  s.argv = {std::move(word)};
  s.judge = judge;
  s.decision = said;
  return s;
}

exec_evaluation asked_of(std::vector<judged_segment> segments) {
  exec_evaluation evaluation;
  evaluation.requirement.kind = requirement_kind::needs_approval;
  evaluation.segments = std::move(segments);
  return evaluation;
}

} // namespace

TEST_SUITE("actors.question_cause") {
  TEST_CASE("§50 a question names the rule or the list that asked, before anything less exact") {
    auto plan = test::plan_for(approval_mode::on_request, workspace_write_profile());
    auto rule = segment(segment_judge::rule, decision::prompt, "deploy");
    rule.rule = rule_citation{{}, "/home/u/default.rules", 3, {}};
    const auto dangerous = segment(segment_judge::danger, decision::prompt, "rm");
    const auto unknown = segment(segment_judge::unmatched, decision::prompt, "make");
    const auto safe = segment(segment_judge::safe, decision::allow, "ls");

    auto cause = first_cause(plan, asked_of({safe, unknown, dangerous, rule}));
    CHECK(cause.source == ask_source::rule);
    CHECK(cause.rule == "/home/u/default.rules:3");
    CHECK(cause.segment == std::vector<std::string>{"deploy"});
    cause = first_cause(plan, asked_of({safe, unknown, dangerous}));
    CHECK(cause.source == ask_source::danger);
    CHECK(cause.segment == std::vector<std::string>{"rm"});
    CHECK(first_cause(plan, asked_of({safe, unknown})).source == ask_source::unmatched);
    CHECK(first_cause(plan, asked_of({safe})).source == ask_source::policy);

    auto escalated = plan;
    escalated.what.sandbox_permissions = sandbox_permissions::require_escalated;
    CHECK(first_cause(escalated, asked_of({unknown})).source == ask_source::escalation);
    CHECK(first_cause(escalated, asked_of({dangerous})).source == ask_source::danger);
    auto wider = plan;
    wider.what.sandbox_permissions = sandbox_permissions::with_additional_permissions;
    CHECK(first_cause(wider, asked_of({unknown})).source == ask_source::permissions);
    wider.permissions_preapproved = true;
    CHECK(first_cause(wider, asked_of({unknown})).source == ask_source::unmatched);
    auto patch = plan;
    patch.what.patch.emplace();
    CHECK(first_cause(patch, asked_of({unknown})).source == ask_source::patch);

    auto strict = plan;
    strict.strict_review = true;
    auto skipped = asked_of({safe});
    skipped.requirement.kind = requirement_kind::skip;
    CHECK(first_cause(strict, skipped).source == ask_source::strict_review);
  }

  TEST_CASE("§D5 the question about a second run says that the sandbox refused the first") {
    auto plan = test::plan_for(approval_mode::untrusted, workspace_write_profile());
    call_flow flow{plan};
    flow.step(test::requires_(requirement_kind::skip));
    const auto asked = flow.step(test::ended(1, attempt_ending::denied));
    const auto* question = test::find<flow::ask_review>(asked);
    REQUIRE(question);
    CHECK(question->request.cause.source == ask_source::denial);
  }
}
