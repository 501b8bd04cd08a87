#include "actors/orchestrator.hpp"

#include "actors/asked_folders.hpp"
#include "protocol/approval_policy_json.hpp"
#include "protocol/denial_message.hpp"
#include "protocol/profile_json.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <utility>

namespace gatehouse::actors {

orchestrator::orchestrator(caf::actor_config& config, orchestrator_partners partners)
    : orchestrator_actor::base{config}, partners_{std::move(partners)} {}

void orchestrator::on_exit() {
  if (flow_ && !flow_->finished()) {
    send(partners_.runtime, cancel_v, call_id_);
    call_report report;
    report.call_id = call_id_;
    report.ending = call_ending::aborted;
    report.message = cancelled_message();
    caller_.deliver(std::make_shared<const call_report>(std::move(report)));
  }
  partners_ = {};
  caller_ = {}; // it refers to this actor
}

orchestrator::behavior_type orchestrator::make_behavior() {
  return {
      [this](run_atom, const judged_call_ptr& call) -> caf::result<call_report_ptr> {
        caller_ = make_response_promise<call_report_ptr>();
        auto answer = caller_;
        call_id_ = call->plan.call_id;
        flow_.emplace(call->plan);
        if (partners_.auditor) {
          const auto& plan = call->plan;
          note(audit_kind::decision, 0,
               audit_decision(plan.what, encode_approval_policy(plan.approval),
                              encode_profile(plan.profile), call->evaluation,
                              call_flow::first_boundary(plan, call->evaluation.requirement)));
        }
        feed(flow::requirement_known{call->evaluation});
        return answer;
      },
      [this](cancel_atom) {
        if (flow_) feed(flow::cancelled{});
      },
  };
}

void orchestrator::feed(flow::event event) {
  for (auto& effect : flow_->step(std::move(event)))
    std::visit([this](auto& e) { carry_out(e); }, effect);
}

void orchestrator::tell(thread_event_body what) {
  if (partners_.observer)
    send(partners_.observer, event_v, std::make_shared<const thread_event_body>(std::move(what)));
}

void orchestrator::carry_out(flow::ask_review& effect) {
  // Before anybody can see it: whoever says yes means what stood there then.
  auto asked = folders_of(flow_->plan());
  const auto question = std::make_shared<const review_request>(std::move(effect.request));
  request(partners_.reviewer, caf::infinite, review_v, question)
      .then(
          [this, asked = std::move(asked)](const review_answer_ptr& answer) {
            auto given = *answer;
            const auto other = is_approval(given.decision)
                                   ? other_folder(asked, folders_of(flow_->plan()))
                                   : std::nullopt;
            if (other) {
              given.decision = review_decision::denied;
              given.reviewer = reviewer_kind::none;
              given.reason = *other;
            }
            feed(flow::review_answered{std::move(given)});
          },
          [this, question](caf::error& e) {
            feed(flow::review_answered{{question->review_id, question->digest,
                                        review_decision::denied, reviewer_kind::none,
                                        "the reviewer failed: " + system().render(e)}});
          });
}

void orchestrator::carry_out(flow::withdraw_review& effect) {
  send(partners_.reviewer, withdraw_v, std::move(effect.review_id));
}

void orchestrator::carry_out(flow::add_rule& effect) {
  if (partners_.amendments)
    send(partners_.amendments, add_rule_v,
         std::make_shared<const approved_rule>(std::move(effect.rule)));
}

void orchestrator::carry_out(flow::register_network& effect) {
  const int attempt = effect.attempt;
  const auto failed = [this, attempt](std::string why) {
    feed(flow::network_registered{
        attempt, {}, error{errc::boundary_failed, std::move(why), "Run `gatehouse doctor`."}});
  };
  if (!partners_.network) return failed("there is no managed network here");
  network_open open;
  open.call_id = call_id_;
  open.attempt = attempt;
  open.what = flow_->plan().what;
  open.judged = flow_->judgement();
  open.review_nonce = flow_->plan().review_nonce;
  open.approval = flow_->plan().approval;
  open.enforced_by = flow_->plan().profile.kind;
  open.approved_hosts = std::move(effect.approved_hosts);
  open.deferred = flow_->plan().runtime.outlives_the_call;
  request(partners_.network, caf::infinite, open_v,
          std::make_shared<const network_open>(std::move(open)))
      .then(
          [this, attempt](std::string& registration) {
            feed(flow::network_registered{attempt, std::move(registration), {}});
          },
          [this, failed](caf::error& e) {
            failed("the managed network could not be set up: " + system().render(e));
          });
}

void orchestrator::carry_out(flow::unregister_network& effect) {
  const auto registration = effect.registration;
  request(partners_.network, caf::infinite, close_v, registration)
      .then(
          [this, registration](const network_end_ptr& end) {
            feed(flow::network_finished{registration, *end});
          },
          [this, registration](caf::error&) {
            feed(flow::network_finished{registration, {}});
          });
}

audit_record_ptr orchestrator::entry(audit_kind kind, int attempt, std::string body) const {
  return std::make_shared<const audit_record>(
      audit_record{kind, partners_.session, partners_.turn, call_id_, attempt, std::move(body)});
}

void orchestrator::note(audit_kind kind, int attempt, std::string body) {
  if (partners_.auditor)
    caf::anon_send(partners_.auditor, record_v, entry(kind, attempt, std::move(body)));
}

void orchestrator::carry_out(flow::start_attempt& effect) {
  if (!partners_.auditor) return run(std::move(effect.what));
  starting_ = std::move(effect.what);
  const auto& terms = **starting_;
  request(partners_.auditor, caf::infinite, record_v,
          entry(audit_kind::attempt, terms.number,
                audit_attempt(flow_->plan().what, terms.backend, terms.network,
                              encode_profile(terms.profile),
                              terms.by ? terms.by->review_id() : std::string{})))
      .then([this, n = terms.number](const std::string& why_not) { recorded(n, why_not); },
            [this, n = terms.number](caf::error& e) {
              recorded(n, "the auditor failed: " + system().render(e));
            });
}

void orchestrator::recorded(int attempt, const std::string& why_not) {
  if (!starting_ || (*starting_)->number != attempt) return; // cancelled meanwhile
  auto what = std::exchange(starting_, nullptr);
  if (why_not.empty()) return run(std::move(what));
  attempt_result kept_back;
  kept_back.record.number = attempt;
  kept_back.record.sandbox = (*what)->backend;
  kept_back.record.network = (*what)->network;
  kept_back.record.failure =
      error{errc::io, "nothing was run, since it could not be recorded: " + why_not, {}};
  feed(flow::attempt_finished{std::move(kept_back)});
}

void orchestrator::run(attempt_ptr what) {
  const int number = (*what)->number;
  const auto backend = (*what)->backend;
  if (auto moved = moved_folder(flow_->plan().real_roots)) {
    attempt_result not_here;
    not_here.record.number = number;
    not_here.record.sandbox = backend;
    not_here.record.failure = error{errc::boundary_failed, *std::move(moved), {}};
    return ended(not_here);
  }
  tell(thread_events::attempt_began{call_id_, number, backend, (*what)->network});
  request(partners_.runtime, caf::infinite, run_v, std::move(what))
      .then([this](const attempt_result_ptr& result) { ended(*result); },
            [this, number, backend](caf::error& e) {
              attempt_result lost;
              lost.record.number = number;
              lost.record.sandbox = backend;
              lost.record.failure =
                  error{errc::internal, "the runtime failed: " + system().render(e), {}};
              ended(lost);
            });
}

void orchestrator::ended(const attempt_result& result) {
  const auto& record = result.record;
  if (record.denied) {
    tell(thread_events::attempt_denied{call_id_, record.number, *record.denied});
    if (partners_.auditor) note(audit_kind::denial, record.number, audit_denial(*record.denied));
  }
  if (partners_.auditor) note(audit_kind::attempt_end, record.number, audit_attempt_end(record));
  feed(flow::attempt_finished{result});
}

void orchestrator::carry_out(flow::cancel_attempt& effect) {
  if (partners_.network && !effect.network_registration.empty())
    send(partners_.network, cancel_v, effect.network_registration);
  if (!starting_) return send(partners_.runtime, cancel_v, call_id_);
  attempt_result never;
  never.record.number = effect.attempt;
  never.record.sandbox = (*starting_)->backend;
  never.record.ending = attempt_ending::cancelled;
  starting_ = nullptr;
  ended(never);
}

void orchestrator::carry_out(flow::finish& effect) {
  caller_.deliver(std::make_shared<const call_report>(std::move(effect.report)));
  quit();
}

} // namespace gatehouse::actors
