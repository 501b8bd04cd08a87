#include "actors/tool_call.hpp"

#include "actors/patch_intake.hpp"
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

call_report rejected_patch(const std::string& call_id, std::vector<file_change> asked,
                           const error& why) {
  call_report report;
  report.call_id = call_id;
  report.ending = call_ending::failed;
  report.patch = patch_result{std::move(asked), {}, 0};
  report.failure = why;
  report.message = patch_failure_message(why);
  return report;
}

} // namespace

tool_call::tool_call(caf::actor_config& config, judgement_terms terms,
                     orchestrator_partners partners)
    : tool_call_actor::base{config}, terms_{std::move(terms)}, partners_{std::move(partners)} {}

void tool_call::on_exit() {
  if (caller_.pending()) {
    if (orchestrator_) send(orchestrator_, cancel_v);
    end(std::make_shared<const call_report>(stopped(call_id_)));
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
        call_id_ = call->plan.call_id;
        start();
        return answer;
      },
      [this](cancel_atom) {
        cancelled_ = true;
        if (orchestrator_) send(orchestrator_, cancel_v);
      },
  };
}

void tool_call::start() {
  auto patch = result<std::optional<patch_intake>>{std::optional<patch_intake>{}};
  if (!cancelled_ && !call_->handler_refusal) patch = take_in_patch(call_->plan, terms_);
  if (cancelled_) // it came before the call itself
    return end(std::make_shared<const call_report>(stopped(call_id_)));
  if (!patch)
    return end(std::make_shared<const call_report>(rejected_patch(call_id_, {}, patch.error())));
  if (!*patch) {
    judged_call judged{call_->plan, judge(call_->plan, terms_)};
    if (call_->handler_refusal) judged.evaluation.requirement = *call_->handler_refusal;
    return orchestrate(std::move(judged), partners_.runtime);
  }
  auto& taken = **patch;
  judged_call judged{std::move(taken.plan), std::move(taken.evaluation)};
  if (!judged.plan.what.patch) return orchestrate(std::move(judged), partners_.runtime);
  if (!partners_.patches) {
    judged.evaluation.requirement = {};
    judged.evaluation.requirement.reason = "patches are not applied here";
    return orchestrate(std::move(judged), partners_.runtime);
  }
  // Nobody is asked about a patch that does not fit.
  const bool asks =
      judged.evaluation.requirement.kind == requirement_kind::needs_approval ||
      (judged.evaluation.requirement.kind == requirement_kind::skip && judged.plan.strict_review);
  if (asks && taken.may_verify_first) return verify(std::move(judged));
  orchestrate(std::move(judged), partners_.patches);
}

void tool_call::verify(judged_call call) {
  const auto judged = std::make_shared<const judged_call>(std::move(call));
  const auto go_on = [this, judged](const std::optional<error>& failure) {
    if (cancelled_) return end(std::make_shared<const call_report>(stopped(call_id_)));
    if (!failure) return orchestrate(*judged, partners_.patches);
    auto report = rejected_patch(call_id_, judged->plan.what.patch->changes, *failure);
    report.evaluation = judged->evaluation;
    end(std::make_shared<const call_report>(std::move(report)));
  };
  request(partners_.patches, caf::infinite, check_v, judged)
      .then([go_on](const patch_verdict_ptr& verdict) { go_on(verdict->failure); },
            [this, go_on](caf::error& e) {
              go_on(error{errc::internal, "the patch runtime failed: " + system().render(e), {}});
            });
}

void tool_call::orchestrate(judged_call call, runtime_actor runtime) {
  // It may wait for a person now, for as long as that takes: what it was judged by is not needed.
  terms_ = {};
  call_ = nullptr;
  auto partners = std::exchange(partners_, {});
  partners.runtime = std::move(runtime);
  orchestrator_ = system().spawn<orchestrator>(std::move(partners));
  request(orchestrator_, caf::infinite, run_v, std::make_shared<const judged_call>(std::move(call)))
      .then([this](const call_report_ptr& report) { end(report); },
            [this](caf::error& e) {
              auto lost = stopped(call_id_);
              lost.ending = call_ending::failed;
              lost.failure =
                  error{errc::internal, "the orchestrator failed: " + system().render(e), {}};
              lost.message = failure_message(*lost.failure);
              end(std::make_shared<const call_report>(std::move(lost)));
            });
}

void tool_call::end(call_report_ptr report) {
  caller_.deliver(std::move(report));
  quit();
}

} // namespace gatehouse::actors
