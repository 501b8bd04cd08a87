#include "actors/host_approval.hpp"

#include <caf/actor_system.hpp>

#include <utility>

namespace gatehouse::actors {

host_approval::host_approval(caf::actor_config& config, reviewer_actor reviewer,
                             review_request_ptr question, host_answer_actor asker)
    : host_approval_actor::base{config}, reviewer_{std::move(reviewer)},
      question_{std::move(question)}, asker_{std::move(asker)} {}

void host_approval::on_exit() {
  reviewer_ = nullptr;
  asker_ = nullptr;
}

void host_approval::report(review_answer_ptr answer) {
  send(asker_, report_v, std::move(answer));
  quit();
}

host_approval::behavior_type host_approval::make_behavior() {
  request(reviewer_, caf::infinite, review_v, question_)
      .then([this](const review_answer_ptr& answer) { report(answer); },
            [this](caf::error& e) {
              review_answer failed;
              failed.review_id = question_->review_id;
              failed.digest = question_->digest;
              failed.reason = "the reviewer failed: " + system().render(e);
              report(std::make_shared<const review_answer>(std::move(failed)));
            });
  return {[this](withdraw_atom) {
    send(reviewer_, withdraw_v, question_->review_id);
    quit();
  }};
}

} // namespace gatehouse::actors
