#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace gatehouse::reactor {

/// Where an event loop takes its time from. Only the loop's own thread asks.
class clock {
public:
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;

  /// What a clock that is moved by hand must know of the loop that follows it.
  class follower {
  public:
    virtual ~follower() = default;
    /// When the earliest timer is due, if any is set.
    virtual std::optional<time_point> next_due() const = 0;
    /// Runs the timers due now and everything that follows from them without waiting.
    virtual void run_due() = 0;
  };

  virtual ~clock() = default;
  virtual time_point now() const noexcept = 0;
  /// Called by a loop with itself, and with nullptr before it ends. True: this clock moves only by
  /// hand and drives the follower's timers; false: the loop has the operating system wake it.
  virtual bool drives(follower* loop) noexcept = 0;
};

/// Milliseconds since 1970 by the machine's wall clock: what people and protocols are told, never
/// what a limit is measured by.
std::int64_t unix_ms_now() noexcept;

/// The monotonic clock of the machine.
class steady_clock final : public clock {
public:
  time_point now() const noexcept override { return std::chrono::steady_clock::now(); }
  bool drives(follower*) noexcept override { return false; }
};

/// Stands still until a test moves it. Serves one loop at a time.
class manual_clock final : public clock {
public:
  time_point now() const noexcept override { return now_; }
  bool drives(follower* loop) noexcept override {
    loop_ = loop;
    return true;
  }

  /// Moves on by `by`, stopping at every timer that falls due on the way, so that each runs at its
  /// own time and before the next. Call it on the loop's thread, outside of the loop's handlers.
  void advance(duration by);

private:
  time_point now_{std::chrono::hours{1}};
  follower* loop_ = nullptr;
};

} // namespace gatehouse::reactor
