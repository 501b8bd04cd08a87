#pragma once

#include "actors/judge.hpp"
#include "actors/orchestrator.hpp"

#include <string>

namespace gatehouse::actors {

/// Judges one call and hands it to an orchestrator of its own.
class tool_call : public tool_call_actor::base {
public:
  tool_call(caf::actor_config& config, judgement_terms terms, orchestrator_partners partners);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.tool-call"; }

private:
  void start();
  void verify(judged_call call);
  void orchestrate(judged_call call, runtime_actor runtime);
  void end(call_report_ptr report);

  judgement_terms terms_;
  orchestrator_partners partners_;
  call_start_ptr call_; ///< until it is judged
  std::string call_id_;
  bool cancelled_ = false;
  orchestrator_actor orchestrator_;
  caf::typed_response_promise<call_report_ptr> caller_;
};

} // namespace gatehouse::actors
