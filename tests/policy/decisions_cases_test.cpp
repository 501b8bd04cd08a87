#include "policy/requirement.hpp"
#include "policy/safety.hpp"
#include "protocol/approval_policy_json.hpp"
#include "tests/support/exec_policy_case.hpp"
#include "tests/support/json_lines.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::policy;

namespace {

exec_evaluation judge_row(const boost::json::object& row, std::string_view command_key,
                          std::string_view profile_key) {
  exec_request request;
  request.argv = {"/bin/bash", "-c", std::string{row.at(command_key).as_string()}};
  const auto approval = decode_approval_policy(boost::json::serialize(row.at("approval_policy")));
  REQUIRE_MESSAGE(approval, approval.error().message);
  request.approval = *approval;
  request.profile = built_in_profile(row.at(profile_key).as_string()).value();
  if (const auto* wanted = row.if_contains("sandbox_permissions"))
    request.sandbox_permissions = sandbox_permissions_from(wanted->as_string()).value();
  if (const auto* prefix = row.if_contains("prefix_rule"))
    for (const auto& token : prefix->as_array())
      request.prefix_rule.emplace_back(token.as_string());
  std::vector<rule_file> files;
  if (const auto* rules = row.if_contains("rules"))
    files.push_back(read_rule_file(rules->as_string(), "case.rules", {}));
  return tests::judge(request, rule_set{std::move(files)});
}

bool may_be_stricter(const boost::json::object& row) {
  const auto* mark = row.if_contains("stricter_ok");
  return mark && mark->as_bool();
}

} // namespace

TEST_SUITE("policy.decisions_cases") {
  TEST_CASE(
      "§D1 §31 §32 §33 no recorded command that must ask or be refused runs, and few ask in vain") {
    int rows = 0;
    int needless = 0;
    for (const auto& row : tests::load_cases("decisions.jsonl")) {
      ++rows;
      const auto got = judge_row(row, "command", "profile").requirement;
      const std::string wanted{row.at("expected").as_string()};
      const std::string outcome = got.kind == requirement_kind::skip             ? "run"
                                  : got.kind == requirement_kind::needs_approval ? "prompt"
                                                                                 : "forbidden";
      CAPTURE(boost::json::serialize(row));
      CAPTURE(got.reason);
      if (outcome == wanted) continue;
      const bool stricter = wanted == "run" || (wanted == "prompt" && outcome == "forbidden");
      CHECK_MESSAGE(stricter, "looser than recorded: ", outcome);
      if (!may_be_stricter(row)) {
        ++needless;
        MESSAGE("asks in vain (", outcome, "): ", boost::json::serialize(row));
      }
    }
    CHECK(rows > 900);
    CHECK(needless * 50 <= rows);
  }

  TEST_CASE("§34 §38 §40 §129 §D6 §D19 §D21 recorded decisions with rules hold") {
    for (const auto& row : tests::load_cases("decisions_rules.jsonl")) {
      const auto got = judge_row(row, "cmd", "sandbox").requirement;
      CAPTURE(boost::json::serialize(row));
      CAPTURE(got.reason);
      const std::string wanted{row.at("outcome").as_string()};
      const std::string outcome = got.kind == requirement_kind::skip             ? "ran"
                                  : got.kind == requirement_kind::needs_approval ? "ask"
                                  : got.refused_by == refused_by::handler ? "refused_before_policy"
                                                                          : "rejected";
      if (may_be_stricter(row) && outcome != "ran") continue;
      CHECK(outcome == wanted);
      if (const auto* amendment = row.if_contains("amendment"); amendment && wanted == "ask") {
        std::vector<std::string> proposed;
        if (amendment->is_array())
          for (const auto& token : amendment->as_array())
            proposed.emplace_back(token.as_string());
        CHECK(got.proposed_amendment == proposed);
      }
    }
  }

  TEST_CASE("§29 §18a §132 every recorded danger is seen, by evaluation only") {
    for (const auto& row : tests::load_cases("dangerous.jsonl")) {
      std::vector<std::string> argv;
      for (const auto& word : row.at("argv").as_array())
        argv.emplace_back(word.as_string());
      const auto found = find_danger(analyze_command(argv));
      CAPTURE(boost::json::serialize(row));
      const auto& wanted = row.at("match");
      if (wanted.is_null()) {
        if (!may_be_stricter(row)) CHECK_FALSE(found);
        continue;
      }
      REQUIRE(found);
      CHECK((found->kind == danger_kind::forced_rm) == (wanted.as_string() == "forced_rm"));
      CHECK_FALSE(found->why.empty());
    }
  }
}
