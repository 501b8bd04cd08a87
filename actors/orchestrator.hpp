#pragma once

#include "actors/audit/auditor_interface.hpp"
#include "actors/interfaces.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <optional>

namespace gatehouse::actors {

/// Whom an orchestrator talks to.
struct orchestrator_partners {
  reviewer_actor reviewer;
  runtime_actor runtime;
  patch_runtime_actor patches; ///< unset: a patch is refused
  network_actor network;       ///< unset: there is no managed network here
  amendment_actor amendments;  ///< unset: approved rules are not kept
  observer_actor observer;     ///< hears of attempts; may be unset
  auditor_actor auditor;       ///< no attempt starts before it is written; unset: no audit
  std::string session, turn;   ///< for the audit
};

/// Feeds one call_flow and carries out its effects; decides nothing itself. A partner that fails
/// counts as the strictest answer it could have given: an attempt that cannot be recorded never
/// starts.
class orchestrator : public orchestrator_actor::base {
public:
  orchestrator(caf::actor_config& config, orchestrator_partners partners);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.orchestrator"; }

private:
  void feed(flow::event event);
  void tell(thread_event_body what);
  [[nodiscard]] audit_record_ptr entry(audit_kind kind, int attempt, std::string body) const;
  void note(audit_kind kind, int attempt, std::string body);
  void recorded(int attempt, const std::string& why_not);
  void run(attempt_ptr what);
  void ended(const attempt_result& result);
  void carry_out(flow::ask_review& effect);
  void carry_out(flow::withdraw_review& effect);
  void carry_out(flow::add_rule& effect);
  void carry_out(flow::register_network& effect);
  void carry_out(flow::unregister_network& effect);
  void carry_out(flow::start_attempt& effect);
  void carry_out(flow::cancel_attempt& effect);
  void carry_out(flow::finish& effect);

  orchestrator_partners partners_;
  std::optional<call_flow> flow_;
  std::string call_id_;
  attempt_ptr starting_; ///< waits until the audit has it
  caf::typed_response_promise<call_report_ptr> caller_;
};

} // namespace gatehouse::actors
