#include "actors/session_terms.hpp"
#include "tests/actors/actor_fixture.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;

namespace {

constexpr std::string_view rules = R"(
prefix_rule(pattern=["uname"], decision="allow")
prefix_rule(pattern=["git", "fetch"], decision="prompt", justification="talks to the network")
prefix_rule(pattern=["git", "push"], decision="forbidden", justification="use the release job")
)";

enum class outcome : std::uint8_t { sandboxed, bypass, asked, refused };

std::string_view to_string(outcome o) {
  switch (o) {
  case outcome::sandboxed: return "allow, sandboxed";
  case outcome::bypass: return "allow, may bypass";
  case outcome::asked: return "prompt";
  case outcome::refused: return "forbidden";
  }
  return "";
}

struct call_kind {
  const char* name;
  std::vector<std::string> argv;
  sandbox_permissions permissions = sandbox_permissions::use_default;
  additional_permissions granted{}; ///< by a sticky grant
};

/// What a call of this kind comes to, through handler, exec policy, flow and actors.
outcome outcome_of(const call_kind& call, const approval_policy& approval) {
  actor_fixture f{rules};
  f.stage_.review = [](const review_request& q) {
    return answer_to(q, review_decision::denied).answer;
  };
  session_terms terms;
  terms.cwd = terms.context.cwd = "/repo";
  terms.context.project_roots = {"/repo"};
  terms.approval = approval;
  terms.profile = workspace_write_profile();
  terms.backend = sandbox_backend::linux_bubblewrap;
  shell_request request;
  request.command = call.argv;
  request.sandbox_permissions = call.permissions;
  if (call.permissions == sandbox_permissions::with_additional_permissions)
    request.additional_permissions = additional_permissions{true, {}, {}};
  auto planned = plan_call(terms, request, call.granted);
  planned.plan.call_id = "call-1";
  planned.plan.review_nonce = "n0nce";
  const auto report = f.run(std::move(planned.plan), std::move(planned.handler_refusal));
  if (!f.stage_.questions.empty()) return outcome::asked;
  if (f.stage_.attempts.empty()) {
    CHECK(report.ending == call_ending::refused);
    return outcome::refused;
  }
  return (*f.stage_.attempts.front())->sandbox_requested ? outcome::sandboxed : outcome::bypass;
}

} // namespace

TEST_SUITE("actors.matrix") {
  TEST_CASE("§129 §143 §144 every command kind under every approval policy, through the actors") {
    using enum outcome;
    const approval_policy never{approval_mode::never, {}};
    const approval_policy on_request{approval_mode::on_request, {}};
    const approval_policy untrusted{approval_mode::untrusted, {}};
    approval_policy granular_on{approval_mode::granular, {}};
    granular_on.granular.sandbox_approval = granular_on.granular.rules = true;
    const approval_policy granular_off{approval_mode::granular, {}};

    struct row {
      call_kind call;
      outcome never, on_request, untrusted, granular_on, granular_off;
    };
    const row rows[] = {
        {{"simple known safe", {"ls", "-la"}},
         sandboxed,
         sandboxed,
         sandboxed,
         sandboxed,
         sandboxed},
        {{"unknown", {"make", "test"}}, sandboxed, sandboxed, asked, sandboxed, sandboxed},
        {{"dangerous", {"rm", "-rf", "x"}}, refused, asked, asked, asked, refused},
        {{"explicit allow", {"uname", "-a"}}, bypass, bypass, bypass, bypass, bypass},
        {{"explicit prompt", {"git", "fetch"}}, refused, asked, asked, asked, refused},
        {{"explicit forbidden", {"git", "push"}}, refused, refused, refused, refused, refused},
        {{"require_escalated", {"make"}, sandbox_permissions::require_escalated},
         refused,
         asked,
         refused,
         refused,
         refused},
        {{"with_additional_permissions",
          {"make"},
          sandbox_permissions::with_additional_permissions},
         refused,
         asked,
         refused,
         refused,
         refused},
        {{"with_additional_permissions inside a grant",
          {"make"},
          sandbox_permissions::with_additional_permissions,
          additional_permissions{true, {}, {}}},
         sandboxed,
         sandboxed,
         asked,
         sandboxed,
         sandboxed},
        {{"require_escalated beside a grant",
          {"make"},
          sandbox_permissions::require_escalated,
          additional_permissions{true, {}, {}}},
         refused,
         asked,
         refused,
         refused,
         refused},
    };
    for (const auto& r : rows) {
      CAPTURE(r.call.name);
      CHECK(to_string(outcome_of(r.call, never)) == to_string(r.never));
      CHECK(to_string(outcome_of(r.call, on_request)) == to_string(r.on_request));
      CHECK(to_string(outcome_of(r.call, untrusted)) == to_string(r.untrusted));
      CHECK(to_string(outcome_of(r.call, granular_on)) == to_string(r.granular_on));
      CHECK(to_string(outcome_of(r.call, granular_off)) == to_string(r.granular_off));
    }
  }
}
