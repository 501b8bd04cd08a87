#pragma once

#include "reactor/detail/timer_queue.hpp"
#include "reactor/event_loop.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <optional>

namespace gatehouse::reactor {

struct event_loop::impl final : clock::follower {
  explicit impl(std::shared_ptr<clock> c);
  ~impl() override;

  std::optional<clock::time_point> next_due() const override { return timers.next_due(); }
  void run_due() override;
  /// Has the operating system wake the loop for the earliest timer, unless the clock does.
  void arm();

  // Destroying the context destroys what its handlers own, which may still cancel timers.
  timer_queue timers;
  std::shared_ptr<clock> time;
  bool closing = false;
  bool by_hand = false;
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  std::optional<boost::asio::steady_timer> wake;
  clock::time_point armed_for = clock::time_point::max();
};

/// The way from a public `event_loop` to Asio, for the sources of this folder.
struct event_loop_access {
  static boost::asio::io_context& context(event_loop& loop) { return loop.impl_->context; }
  static timer_queue::key add_timer(event_loop& loop, clock::time_point due,
                                    std::function<void()> fn);
  static void cancel_timer(event_loop& loop, const timer_queue::key& key);
};

} // namespace gatehouse::reactor
