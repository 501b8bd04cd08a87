#include "tests/support/exec_policy_case.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace gatehouse;
using namespace gatehouse::policy;
using namespace gatehouse::tests;

namespace {

/// `run` keeps the sandbox, `bypass` lifts it; `refused` is the handler's, `forbidden` policy's.
std::string outcome(const exec_request& request, const rule_set& rules) {
  const auto got = judge(request, rules).requirement;
  switch (got.kind) {
  case requirement_kind::skip: return got.bypass_sandbox ? "bypass" : "run";
  case requirement_kind::needs_approval: return "prompt";
  case requirement_kind::forbidden: break;
  }
  return got.refused_by == refused_by::handler ? "refused" : "forbidden";
}

exec_request request_for(std::string script, std::string_view column) {
  auto request = script_request(std::move(script));
  if (column == "never") request.approval.mode = approval_mode::never;
  if (column == "untrusted") request.approval.mode = approval_mode::untrusted;
  if (column.starts_with("granular")) {
    request.approval.mode = approval_mode::granular;
    request.approval.granular.sandbox_approval = column.find("+sandbox") != std::string_view::npos;
    request.approval.granular.rules = column.find("+rules") != std::string_view::npos;
  }
  return request;
}

constexpr const char* columns[] = {"never",
                                   "on-request",
                                   "untrusted",
                                   "granular",
                                   "granular+rules",
                                   "granular+sandbox",
                                   "granular+rules+sandbox"};

} // namespace

TEST_CASE("§129 the matrix of command kinds and approval policies holds cell by cell") {
  struct row {
    const char* kind;
    const char* script;
    const char* want[7];
    sandbox_permissions wanted = sandbox_permissions::use_default;
  };
  const row table[] = {
      {"simple known safe", "ls", {"run", "run", "run", "run", "run", "run", "run"}},
      {"unknown", "foo", {"run", "run", "prompt", "run", "run", "run", "run"}},
      {"dangerous",
       "rm -rf x",
       {"forbidden", "prompt", "prompt", "forbidden", "forbidden", "prompt", "prompt"}},
      {"explicit allow",
       "foo allow",
       {"bypass", "bypass", "bypass", "bypass", "bypass", "bypass", "bypass"}},
      {"explicit prompt",
       "foo ask",
       {"forbidden", "prompt", "prompt", "forbidden", "prompt", "forbidden", "prompt"}},
      {"explicit forbidden",
       "foo no",
       {"forbidden", "forbidden", "forbidden", "forbidden", "forbidden", "forbidden", "forbidden"}},
      {"require_escalated",
       "foo",
       {"refused", "prompt", "refused", "refused", "refused", "refused", "refused"},
       sandbox_permissions::require_escalated},
      {"with_additional_permissions",
       "foo",
       {"refused", "prompt", "refused", "refused", "refused", "refused", "refused"},
       sandbox_permissions::with_additional_permissions},
  };
  const auto rules = make_rules({make_rule({"foo", "allow"}, decision::allow),
                                 make_rule({"foo", "ask"}, decision::prompt),
                                 make_rule({"foo", "no"}, decision::forbidden)});
  for (const auto& r : table)
    for (std::size_t i = 0; i < std::size(columns); ++i) {
      auto request = request_for(r.script, columns[i]);
      request.sandbox_permissions = r.wanted;
      CAPTURE(r.kind);
      CAPTURE(columns[i]);
      CHECK(outcome(request, rules) == r.want[i]);
    }
}

TEST_CASE("§143 four commands × four rule states × the approval policies") {
  struct row {
    const char* script;
    std::vector<std::string> pattern;
    const char* unmatched[7];
  };
  const row table[] = {
      {"ls", {"ls"}, {"run", "run", "run", "run", "run", "run", "run"}},
      {"git status", {"git", "status"}, {"run", "run", "run", "run", "run", "run", "run"}},
      {"python -c 'print(1)'",
       {"python", "-c"},
       {"run", "run", "prompt", "run", "run", "run", "run"}},
      {"rm -rf x",
       {"rm", "-rf"},
       {"forbidden", "prompt", "prompt", "forbidden", "forbidden", "prompt", "prompt"}},
  };
  const char* prompted[] = {"forbidden", "prompt",    "prompt", "forbidden",
                            "prompt",    "forbidden", "prompt"};
  for (const auto& r : table)
    for (std::size_t i = 0; i < std::size(columns); ++i) {
      const auto request = request_for(r.script, columns[i]);
      CAPTURE(r.script);
      CAPTURE(columns[i]);
      CHECK(outcome(request, {}) == r.unmatched[i]);
      CHECK(outcome(request, make_rules({make_rule(r.pattern, decision::allow)})) == "bypass");
      CHECK(outcome(request, make_rules({make_rule(r.pattern, decision::prompt)})) == prompted[i]);
      CHECK(outcome(request, make_rules({make_rule(r.pattern, decision::forbidden)})) ==
            "forbidden");
    }
}
