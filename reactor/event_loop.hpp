#pragma once

#include "reactor/clock.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace gatehouse::reactor {

struct event_loop_access;

/// The one loop of the daemon: descriptors, timers, posted functions and, through the actor
/// scheduler, actors. Whoever calls `run` is the loop's thread; unless a declaration says
/// otherwise, everything in this folder is used from that thread only and must not outlive the
/// loop. Making a loop sets SIGPIPE to be ignored (a closed pipe is reported as an error) and
/// SIGCHLD to its default.
class event_loop {
public:
  event_loop();
  explicit event_loop(std::shared_ptr<clock> time);
  ~event_loop();
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  /// Handles events until `stop`.
  void run();
  /// Handles events until `done()` holds (asked before each event), `stop`, or `guard` has passed
  /// in real time, whatever the loop's clock says. Returns `done()`.
  bool run_until(const std::function<bool()>& done,
                 std::chrono::milliseconds guard = std::chrono::hours{24 * 365});
  /// Handles what is ready without waiting. Returns the number of events.
  std::size_t poll();
  /// Ends the current or, when none is active, the next `run`. Any thread.
  void stop();
  /// Runs `fn` on the loop, never inside this call. Any thread.
  void post(std::function<void()> fn);
  /// True inside of `run`, `run_until` and `poll` of this loop. Any thread.
  [[nodiscard]] bool in_loop() const noexcept;
  /// The time of the loop's clock.
  [[nodiscard]] clock::time_point now() const noexcept;

private:
  friend struct event_loop_access;
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace gatehouse::reactor
