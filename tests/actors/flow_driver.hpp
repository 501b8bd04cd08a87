#pragma once

#include "actors/call_flow.hpp"

#include <optional>
#include <string>
#include <utility>

namespace gatehouse::test {

/// Shorthands for tests of the two-attempt machine.
inline actors::call_plan plan_for(approval_mode mode, permission_profile profile) {
  actors::call_plan plan;
  plan.call_id = "call-1";
  plan.review_nonce = "n0nce";
  plan.what.argv = {"make", "test"};
  plan.what.cwd = "/repo";
  plan.approval.mode = mode;
  plan.profile = std::move(profile);
  plan.policy_cwd = "/repo";
  plan.workspace_roots = {"/repo"};
  plan.backend = sandbox_backend::linux_bubblewrap;
  return plan;
}

inline actors::flow::requirement_known requires_(requirement_kind kind, bool bypass = false,
                                                 std::vector<std::string> amendment = {}) {
  exec_evaluation evaluation;
  evaluation.requirement.kind = kind;
  evaluation.requirement.bypass_sandbox = bypass;
  evaluation.requirement.proposed_amendment = std::move(amendment);
  if (kind == requirement_kind::forbidden) evaluation.requirement.reason = "no such thing here";
  return {std::move(evaluation)};
}

inline actors::flow::review_answered answer_to(const review_request& question,
                                               review_decision decision) {
  return {{question.review_id, question.digest, decision, reviewer_kind::user, {}}};
}

inline actors::flow::attempt_finished exited(int number, int code = 0) {
  actors::attempt_result result;
  result.record.number = number;
  result.record.ending = attempt_ending::exited;
  result.record.exit_code = code;
  return {std::move(result)};
}

inline actors::flow::attempt_finished ended(int number, attempt_ending ending) {
  actors::attempt_result result;
  result.record.number = number;
  result.record.ending = ending;
  if (ending == attempt_ending::denied) {
    result.record.exit_code = 1;
    result.record.denied =
        denial{denial_kind::file_write, "/etc/x", {}, "no entry", "Ask to write /etc."};
  }
  return {std::move(result)};
}

/// The end of a registration that saw this host refused.
inline actors::flow::network_finished end_with(std::optional<actors::network_context> refused) {
  actors::flow::network_finished end;
  end.registration = "reg-1";
  if (refused)
    end.seen.denied = denial{denial_kind::network, {}, refused->host, "no rule", "Ask for it."};
  end.seen.refused = std::move(refused);
  return end;
}

inline permission_profile with_denied_read(permission_profile profile) {
  profile.file_system.entries.push_back({literal_path{"/repo/secret"}, access::deny, false});
  return profile;
}

/// The first effect of kind T, or null.
template <class T>
const T* find(const actors::flow::effects& effects) {
  for (const auto& effect : effects)
    if (const auto* found = std::get_if<T>(&effect)) return found;
  return nullptr;
}

} // namespace gatehouse::test
