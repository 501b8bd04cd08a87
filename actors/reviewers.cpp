#include "actors/reviewers.hpp"

#include <caf/send.hpp>
#include <caf/typed_response_promise.hpp>

#include <utility>

namespace gatehouse::actors {
namespace {

review_answer refusal_of(const review_request& question, std::string reason) {
  return {question.review_id, question.digest, review_decision::denied, reviewer_kind::none,
          std::move(reason)};
}

} // namespace

asking_reviewer::asking_reviewer(caf::actor_config& config, question_asker ask,
                                 reactor::worker_pool* workers)
    : reviewer_actor::base{config}, ask_{std::move(ask)}, workers_{workers} {}

void asking_reviewer::withdraw(const std::string& review_id) {
  if (const auto found = open_.find(review_id); found != open_.end()) *found->second = true;
}

void asking_reviewer::on_exit() {
  for (auto& [review_id, withdrawn] : open_)
    *withdrawn = true;
  ask_ = nullptr;
}

asking_reviewer::behavior_type asking_reviewer::make_behavior() {
  return {
      [this](review_atom, const review_request_ptr& question) -> caf::result<review_answer_ptr> {
        auto promise = make_response_promise<review_answer_ptr>();
        auto answer = promise;
        const auto withdrawn = std::make_shared<std::atomic<bool>>(false);
        open_[question->review_id] = withdrawn;
        // The promise keeps this actor alive until it is delivered.
        const auto queued = workers_->submit_value(
            [ask = ask_, question, withdrawn] { return ask(*question, *withdrawn); },
            [this, promise, id = question->review_id](review_answer given) mutable {
              open_.erase(id);
              promise.deliver(std::make_shared<const review_answer>(std::move(given)));
            });
        if (!queued) {
          open_.erase(question->review_id);
          promise.deliver(
              std::make_shared<const review_answer>(refusal_of(*question, queued.error().message)));
        }
        return answer;
      },
      [this](withdraw_atom, const std::string& review_id) { withdraw(review_id); }};
}

rule_keeper::rule_keeper(caf::actor_config& config,
                         std::function<void(const std::vector<std::string>&)> add_rule,
                         reactor::worker_pool* workers)
    : amendment_actor::base{config}, add_rule_{std::move(add_rule)}, workers_{workers} {}

rule_keeper::behavior_type rule_keeper::make_behavior() {
  return {[this](add_rule_atom, const prefix_ptr& prefix) {
    (void)workers_->submit([add = add_rule_, prefix] { add(*prefix); }, [] {});
  }};
}

} // namespace gatehouse::actors
