#include "actors/tool_call.hpp"

#include "protocol/denial_message.hpp"

#include <caf/actor_system.hpp>

#include <utility>

namespace gatehouse::actors {
namespace {

call_report stopped(const std::string& call_id) {
  call_report report;
  report.call_id = call_id;
  report.ending = call_ending::aborted;
  report.message = cancelled_message();
  return report;
}

} // namespace

tool_call::tool_call(caf::actor_config& config, judgement_terms terms,
                     orchestrator_partners partners)
    : tool_call_actor::base{config}, terms_{std::move(terms)}, partners_{std::move(partners)} {}

void tool_call::on_exit() {
  if (call_ && caller_.pending()) {
    if (orchestrator_) send(orchestrator_, cancel_v);
    end(std::make_shared<const call_report>(stopped(call_->plan.call_id)));
  }
  partners_ = {};
  orchestrator_ = nullptr;
  caller_ = {}; // it refers to this actor
}

tool_call::behavior_type tool_call::make_behavior() {
  return {
      [this](run_atom, const call_start_ptr& call) -> caf::result<call_report_ptr> {
        caller_ = make_response_promise<call_report_ptr>();
        auto answer = caller_;
        call_ = call;
        if (cancelled_) { // it came before the call itself
          end(std::make_shared<const call_report>(stopped(call->plan.call_id)));
          return answer;
        }
        judged_call judged{call->plan, judge(call->plan, terms_)};
        if (call->handler_refusal) judged.evaluation.requirement = *call->handler_refusal;
        orchestrator_ = system().spawn<orchestrator>(partners_);
        request(orchestrator_, caf::infinite, run_v,
                std::make_shared<const judged_call>(std::move(judged)))
            .then([this](const call_report_ptr& report) { end(report); },
                  [this](caf::error& e) {
                    auto lost = stopped(call_->plan.call_id);
                    lost.ending = call_ending::failed;
                    lost.failure =
                        error{errc::internal, "the orchestrator failed: " + system().render(e), {}};
                    lost.message = failure_message(*lost.failure);
                    end(std::make_shared<const call_report>(std::move(lost)));
                  });
        return answer;
      },
      [this](cancel_atom) {
        cancelled_ = true;
        if (orchestrator_) send(orchestrator_, cancel_v);
      },
  };
}

void tool_call::end(call_report_ptr report) {
  caller_.deliver(std::move(report));
  quit();
}

} // namespace gatehouse::actors
