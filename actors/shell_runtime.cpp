#include "actors/shell_runtime.hpp"

#include "actors/shell_attempt.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <utility>

namespace gatehouse::actors {
namespace {

attempt_result_ptr cancelled(const attempt_ptr& what) {
  attempt_result over;
  over.record.number = (*what)->number;
  over.record.sandbox = (*what)->backend;
  over.record.network = (*what)->network;
  over.record.ending = attempt_ending::cancelled;
  return std::make_shared<const attempt_result>(std::move(over));
}

} // namespace

shell_runtime::shell_runtime(caf::actor_config& config, shell_terms terms)
    : shell_runtime_actor::base{config}, terms_{std::move(terms)} {}

void shell_runtime::on_exit() {
  for (auto& [call, worker] : running_)
    send(worker, cancel_v, call);
  if (terms_.slots) {
    for (std::size_t i = 0; i < running_.size(); ++i)
      terms_.slots->give_back();
    terms_.slots->leave(this);
  }
  running_.clear();
  for (auto& [call, late] : answered_here_)
    late.promise.deliver(cancelled(late.what));
  answered_here_.clear();
  for (auto& next : waiting_)
    next.promise.deliver(cancelled(next.what));
  waiting_.clear();
}

shell_attempt_actor shell_runtime::spawn_for(const attempt_ptr& what) {
  auto worker = system().spawn<shell_attempt>(terms_);
  monitor(worker);
  running_[(*what)->call_id] = worker;
  return worker;
}

void shell_runtime::start(waiting_attempt next) {
  const auto id = (*next.what)->call_id;
  const auto worker = spawn_for(next.what);
  const auto what = next.what;
  answered_here_[id] = std::move(next);
  const auto promise_of = [this, id] { return answered_here_.extract(id).mapped().promise; };
  request(worker, caf::infinite, run_v, what)
      .then([promise_of](const attempt_result_ptr& over) { promise_of().deliver(over); },
            [promise_of](caf::error& failed) { promise_of().deliver(std::move(failed)); });
}

bool shell_runtime::has_slot() {
  return !terms_.slots || terms_.slots->ask(this, [self = caf::actor_cast<shell_runtime_actor>(
                                                       this)] { caf::anon_send(self, run_v); });
}

void shell_runtime::start_waiting() {
  while (!waiting_.empty() && running_.size() < terms_.max_running && has_slot()) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    start(std::move(next));
  }
}

shell_runtime::behavior_type shell_runtime::make_behavior() {
  set_down_handler([this](const caf::down_msg& down) {
    const auto ended = std::erase_if(running_, [&](const auto& entry) {
      return caf::actor_cast<caf::actor_addr>(entry.second) == down.source;
    });
    if (ended > 0 && terms_.slots) terms_.slots->give_back();
    start_waiting();
  });
  return {
      [this](run_atom, const attempt_ptr& what) -> caf::result<attempt_result_ptr> {
        if (waiting_.empty() && running_.size() < terms_.max_running && has_slot())
          return delegate(spawn_for(what), run_v, what);
        waiting_.push_back({what, make_response_promise<attempt_result_ptr>()});
        return waiting_.back().promise;
      },
      [this](run_atom) {
        terms_.slots->take(this);
        if (waiting_.empty() || running_.size() >= terms_.max_running) {
          terms_.slots->give_back();
          return;
        }
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        start(std::move(next));
        start_waiting();
      },
      [this](cancel_atom, const std::string& call) {
        if (const auto found = running_.find(call); found != running_.end())
          send(found->second, cancel_v, call);
        std::erase_if(waiting_, [&](auto& next) {
          if ((*next.what)->call_id != call) return false;
          next.promise.deliver(cancelled(next.what));
          return true;
        });
      },
  };
}

} // namespace gatehouse::actors
