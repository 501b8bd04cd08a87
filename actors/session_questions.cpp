#include "actors/session_refusals.hpp"
#include "actors/session_thread.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <utility>

/// The questions of a thread to people: its part of actors/session_thread.hpp.
namespace gatehouse::actors {

caf::result<review_answer_ptr> session_thread::hold(const review_request_ptr& question) {
  auto promise = make_response_promise<review_answer_ptr>();
  auto answer = promise;
  promises_[question->review_id] = std::move(promise);
  const auto call = running_.find(question->call_id);
  const auto shown = publish(thread_events::review_asked{*question, reviewer_kind::user},
                             call == running_.end() ? turn_ : call->second.told.turn);
  open_.add(shown);
  look_for_reviewers();
  return answer;
}

void session_thread::reply(const std::string& review_id, review_answer answer) {
  open_.withdraw(review_id);
  auto found = promises_.extract(review_id);
  if (found.empty()) return;
  found.mapped().deliver(std::make_shared<const review_answer>(std::move(answer)));
}

void session_thread::on(const thread_messages::answer_review& m) {
  review_answer answer{m.review_id, m.digest,      m.decision,   reviewer_kind::user,
                       m.reason,    m.denies_host, m.permissions};
  auto question = open_.settle(answer);
  if (!question) {
    if (m.done) m.done(question.error());
    return;
  }
  answer.digest = question->digest; // a no may come without it
  reply(m.review_id, std::move(answer));
  if (m.done) m.done({});
}

void session_thread::on(const thread_messages::allow_refused& m) {
  const auto known = std::find(refused_.begin(), refused_.end(), m.digest);
  if (known == refused_.end()) {
    if (m.done)
      m.done(wrong_order("the automatic reviewer has refused no such action",
                         "Answer with the digest of the question that it refused."));
    return;
  }
  refused_.erase(known);
  memory_->overrides.allow(m.digest);
  if (m.done) m.done({});
}

void session_thread::look_for_reviewers() {
  now_->reviewer_present = std::any_of(subscribers_.begin(), subscribers_.end(),
                                       [](const auto& s) { return s.answers; });
  if (now_->reviewer_present || open_.empty()) return grace_.cancel();
  if (!grace_.pending())
    grace_.start(terms_.reviewer_grace, [self = caf::actor_cast<session_thread_actor>(this)] {
      caf::anon_send(self, expire_v);
    });
}

} // namespace gatehouse::actors
