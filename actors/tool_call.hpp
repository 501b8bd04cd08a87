#pragma once

#include "actors/judge.hpp"
#include "actors/orchestrator.hpp"

namespace gatehouse::actors {

/// Judges one call, hands it to an orchestrator of its own, and reports its start and its end to
/// `items` (may be unset) whatever becomes of it (§D11).
class tool_call : public tool_call_actor::base {
public:
  tool_call(caf::actor_config& config, judgement_terms terms, orchestrator_partners partners,
            item_actor items);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.tool-call"; }

private:
  void start();
  void verify(judged_call call);
  void orchestrate(judged_call call, const runtime_actor& runtime);
  void announce();
  void end(call_report_ptr report);

  judgement_terms terms_;
  orchestrator_partners partners_;
  item_actor items_;
  call_start_ptr call_;
  proposal what_; ///< as it was read: a patch, perhaps
  bool cancelled_ = false;
  orchestrator_actor orchestrator_;
  caf::typed_response_promise<call_report_ptr> caller_;
};

} // namespace gatehouse::actors
