#include "actors/audit/auditor.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <utility>

namespace gatehouse::actors {

auditor::auditor(caf::actor_config& config, std::shared_ptr<audit_sink> sink)
    : auditor_interface::base{config}, sink_{std::move(sink)} {}

void auditor::on_exit() {
  waiting_.clear();
  sink_.reset();
}

auditor::behavior_type auditor::make_behavior() {
  return {
      [this](record_atom, const audit_record_ptr& entry) -> caf::result<std::string> {
        auto promise = make_response_promise<std::string>();
        auto answer = promise;
        if (!promise.pending()) { // nobody waits
          sink_->record(*entry, {});
          return answer;
        }
        const auto number = ++last_;
        waiting_[number] = std::move(promise);
        sink_->record(*entry, [self = caf::actor_cast<auditor_interface>(this),
                               number](const result<void>& how) {
          caf::anon_send(self, ended_v, number, how ? std::string{} : to_string(how.error()));
        });
        return answer;
      },
      [this](ended_atom, std::uint64_t number, const std::string& why_not) {
        auto found = waiting_.extract(number);
        if (!found.empty()) found.mapped().deliver(why_not);
      },
  };
}

audited_reviewer::audited_reviewer(caf::actor_config& config, reviewer_actor reviewer,
                                   auditor_actor audit, std::function<audit_record()> about)
    : reviewer_actor::base{config}, reviewer_{std::move(reviewer)}, audit_{std::move(audit)},
      about_{std::move(about)} {}

void audited_reviewer::on_exit() {
  caf::anon_send_exit(reviewer_, caf::exit_reason::user_shutdown);
  reviewer_ = nullptr;
  audit_ = nullptr;
  about_ = nullptr;
}

audited_reviewer::behavior_type audited_reviewer::make_behavior() {
  return {
      [this](review_atom, const review_request_ptr& asked) -> caf::result<review_answer_ptr> {
        auto caller = make_response_promise<review_answer_ptr>();
        auto answer = caller;
        caf::anon_send(audit_, record_v,
                       entry(*asked, audit_kind::question, audit_question(*asked)));
        request(reviewer_, caf::infinite, review_v, asked)
            .then([this, asked,
                   caller](const review_answer_ptr& said) { answered(asked, said, caller); },
                  [caller](caf::error& e) mutable { caller.deliver(std::move(e)); });
        return answer;
      },
      [this](withdraw_atom, const std::string& review_id) {
        send(reviewer_, withdraw_v, review_id);
      },
  };
}

audit_record_ptr audited_reviewer::entry(const review_request& asked, audit_kind kind,
                                         std::string body) const {
  auto made = about_();
  made.kind = kind;
  made.call = asked.call_id;
  made.attempt = asked.attempt;
  made.body = std::move(body);
  return std::make_shared<const audit_record>(std::move(made));
}

void audited_reviewer::answered(const review_request_ptr& asked, const review_answer_ptr& said,
                                caf::typed_response_promise<review_answer_ptr> caller) {
  auto refuse = [asked, caller](const std::string& why) mutable {
    caller.deliver(std::make_shared<const review_answer>(
        review_answer{asked->review_id, asked->digest, review_decision::denied, reviewer_kind::none,
                      "the answer could not be recorded: " + why}));
  };
  request(audit_, caf::infinite, record_v, entry(*asked, audit_kind::review, audit_review(*said)))
      .then(
          [said, caller, refuse](const std::string& why_not) mutable {
            using enum review_decision;
            const bool no = said->decision == denied || said->decision == timed_out ||
                            said->decision == abort || said->denies_host;
            // A no holds, written or not.
            if (why_not.empty() || no)
              caller.deliver(said);
            else
              refuse(why_not);
          },
          [this, refuse](caf::error& e) mutable { refuse(system().render(e)); });
}

} // namespace gatehouse::actors
