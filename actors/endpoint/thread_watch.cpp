#include "actors/endpoint/thread_watch.hpp"

#include <algorithm>

namespace gatehouse::actors {

void thread_watch::on_event(const thread_event_ptr& event) {
  // A question that is offered again has the number that it had.
  last_seq_ = std::max(last_seq_, event->seq);
  const auto forget = [this](const std::string& review_id) {
    if (questions_.erase(review_id) > 0) std::erase(order_, review_id);
  };
  if (std::holds_alternative<thread_events::turn_started>(event->what)) {
    turn_ = event->turn_id;
  } else if (const auto* turn = std::get_if<thread_events::turn_ended>(&event->what)) {
    turn_.clear();
    if (turn_ended_) turn_ended_(event->turn_id, turn->how);
  } else if (const auto* started = std::get_if<thread_events::item_started>(&event->what)) {
    running_.insert(started->call_id);
  } else if (const auto* ended = std::get_if<thread_events::item_ended>(&event->what)) {
    running_.erase(ended->report->call_id);
  } else if (const auto* asked = std::get_if<thread_events::review_asked>(&event->what)) {
    if (asked->who != reviewer_kind::user) return;
    const auto& id = asked->question.review_id;
    if (questions_
            .emplace(id, question{event->turn_id, event->seq, event->unix_ms,
                                  std::shared_ptr<const review_request>{event, &asked->question}})
            .second)
      order_.push_back(id);
  } else if (const auto* over = std::get_if<thread_events::review_resolved>(&event->what)) {
    forget(over->answer.review_id);
  }
}

std::vector<thread_watch::question> thread_watch::questions() const {
  std::vector<question> all;
  for (const auto& id : order_)
    all.push_back(questions_.at(id));
  return all;
}

const thread_watch::question* thread_watch::find_question(const std::string& review_id) const {
  const auto found = questions_.find(review_id);
  return found == questions_.end() ? nullptr : &found->second;
}

} // namespace gatehouse::actors
