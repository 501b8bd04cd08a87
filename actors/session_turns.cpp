#include "actors/random_id.hpp"
#include "actors/session_refusals.hpp"
#include "actors/session_thread.hpp"

#include <utility>

/// The turns of a thread: its part of actors/session_thread.hpp.
namespace gatehouse::actors {

void session_thread::open_turn(std::string turn_id) {
  turn_ = turn_id.empty() ? "turn-" + random_id() : std::move(turn_id);
  used_ids_.insert(turn_);
  now_->hooks.turn_id = partners_.turn = now_->turn = turn_;
  stopped_because_.clear();
  memory_->breaker.reset();
  publish(thread_events::turn_started{}, turn_);
}

void session_thread::on(const thread_messages::start_turn& m) {
  std::optional<error> why;
  if (closing_)
    why = wrong_order("the thread is closing");
  else if (!turn_.empty())
    why = wrong_order("the turn `" + turn_ + "` is open", "End it first.");
  else if (m.turn_id.size() > longest_id)
    why = wrong_order("a turn id has at most " + std::to_string(longest_id) + " bytes");
  else if (used_ids_.contains(m.turn_id))
    why = wrong_order("the id `" + m.turn_id + "` was used before in this thread");
  if (why) {
    if (m.done) m.done(*std::move(why));
    return;
  }
  open_turn(m.turn_id);
  if (m.done) m.done(turn_);
}

void session_thread::on(const thread_messages::end_turn& m) {
  if (turn_.empty() || (!m.turn_id.empty() && m.turn_id != turn_)) return;
  close_turn(m.how, m.reason);
}

void session_thread::stop_turn(const std::string& why) {
  stopped_because_ = why;
  stopped_turn_ = turn_;
  close_turn(thread_events::turn_ending::interrupted, why);
}

void session_thread::close_turn(thread_events::turn_ending how, const std::string& reason) {
  for (const auto& [id, call] : running_)
    if (call.told.turn == turn_) cancel(id, call);
  const auto turn = std::exchange(turn_, {});
  grants_.end_turn(turn);
  if (turn_over_) turn_over_();
  for (const auto& tell : retired_turns_)
    tell();
  now_->session.strict_review = terms_.session.strict_review;
  now_->hooks.turn_id.clear();
  publish(thread_events::turn_ended{how, reason}, turn);
}

} // namespace gatehouse::actors
