#pragma once

#include "actors/interfaces.hpp"

#include <caf/typed_event_based_actor.hpp>

namespace gatehouse::actors {

/// Hears the answer of a host_approval.
using host_answer_actor = caf::typed_actor<caf::reacts_to<report_atom, review_answer_ptr>>;

using host_approval_actor = caf::typed_actor<
    // The question is moot: withdraws it and ends.
    caf::reacts_to<withdraw_atom>>;

/// One question about one host (§110), from its asking to its answer, which it reports once; then
/// it ends. A reviewer that fails is a no.
class host_approval : public host_approval_actor::base {
public:
  host_approval(caf::actor_config& config, reviewer_actor reviewer, review_request_ptr question,
                host_answer_actor asker);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.host-approval"; }

private:
  void report(review_answer_ptr answer);

  reviewer_actor reviewer_;
  review_request_ptr question_;
  host_answer_actor asker_;
};

} // namespace gatehouse::actors
