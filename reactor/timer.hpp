#pragma once

#include "reactor/event_loop.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace gatehouse::reactor {

/// A one-shot timer on the loop's clock. A function whose timer was cancelled, set again or
/// destroyed never runs, even if it had already fallen due.
class timer {
public:
  explicit timer(event_loop& loop) noexcept : loop_{loop} {}
  ~timer() { cancel(); }
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  /// Runs `fn` once, `after` from now (at once when not positive, but never inside this call).
  /// Replaces a pending one. `fn` may set or destroy this timer.
  void start(clock::duration after, std::function<void()> fn);
  void start_at(clock::time_point due, std::function<void()> fn);
  void cancel();
  [[nodiscard]] bool pending() const noexcept { return key_.has_value(); }

private:
  event_loop& loop_;
  std::optional<std::pair<clock::time_point, std::uint64_t>> key_;
};

} // namespace gatehouse::reactor
