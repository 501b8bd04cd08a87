#include "actors/random_id.hpp"
#include "actors/session_refusals.hpp"
#include "actors/session_thread.hpp"

#include <utility>

/// The turns of a thread: its part of actors/session_thread.hpp.
namespace gatehouse::actors {

void session_thread::open_turn(std::string turn_id) {
  turn_ = turn_id.empty() ? "turn-" + random_id() : std::move(turn_id);
  used_ids_.add(turn_);
  turn_ids_.add(turn_);
  now_->hooks.turn_id = partners_.turn = now_->turn = turn_;
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
  else if (used_ids_.is_full())
    why = too_many_ids(used_ids_.most());
  else if (!stopped_because_.empty() && !m.by_user)
    why = error{errc::cancelled, "the last turn was stopped: " + stopped_because_,
                "Wait: only the user opens the next turn, by turn/start of a reviewer."};
  if (why) {
    if (m.done) m.done(*std::move(why));
    return;
  }
  if (m.by_user) { // an agent that opened turns would lift what stops it
    stopped_because_.clear();
    memory_->breaker.reset();
  }
  if (!m.input.empty())
    note({m.by_user ? transcript_entry::kind::user : transcript_entry::kind::assistant,
          {},
          m.input});
  open_turn(m.turn_id);
  if (m.done) m.done(turn_);
}

void session_thread::on(const thread_messages::end_turn& m) {
  const auto answer = [&](const result<void>& what) {
    if (m.done) m.done(what);
  };
  if (closing_) return answer(wrong_order("the thread is closing"));
  if (!m.turn_id.empty() && m.turn_id != turn_) {
    // To stop a turn that is over stops nothing; whoever wants that must hear it.
    const bool over = m.by_user ? !stopped_because_.empty() && m.turn_id == stopped_turn_
                                : turn_ids_.contains(m.turn_id);
    if (over) return answer({});
    return answer(error{errc::not_found, "the turn `" + m.turn_id + "` is not open", {}});
  }
  if (!m.by_user) {
    if (!turn_.empty()) close_turn(m.how, m.reason);
  } else if (stopped_because_.empty()) {
    if (turn_.empty()) open_turn({}); // a stop between turns is a turn that is stopped
    stop_turn(m.reason);
  }
  answer({});
}

void session_thread::stop_turn(const std::string& why) {
  stopped_because_ = why;
  stopped_turn_ = turn_;
  close_turn(thread_events::turn_ending::interrupted, why);
}

void session_thread::close_turn(thread_events::turn_ending how, const std::string& reason) {
  for (auto& [id, call] : running_)
    if (call.told.turn == turn_) cancel(id, call);
  const auto turn = std::exchange(turn_, {});
  grants_.end_turn(turn);
  const bool interrupted = how == thread_events::turn_ending::interrupted;
  if (turn_over_) turn_over_(interrupted);
  for (const auto& tell : retired_turns_)
    tell(interrupted);
  now_->session.strict_review = terms_.session.strict_review;
  now_->hooks.turn_id.clear();
  publish(thread_events::turn_ended{how, reason}, turn);
}

} // namespace gatehouse::actors
