#pragma once

#include "protocol/network.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

namespace gatehouse::actors {

/// What becomes of a process's waiting for the answer about one host.
enum class host_wait : std::uint8_t {
  begins,     ///< its first connection waits
  pauses,     ///< its last one has gone; the question stands
  answered,   ///< somebody has said yes or no
  unanswered, ///< nobody has, and the question is gone
};

/// For how long the time limits of one process stand still: while it waits for an answer about a
/// host (§95). What it waited for questions that went unanswered counts after all when they go: it
/// could make its life as long as it likes with ever new hosts. Never more counts than was hidden.
/// A value without a clock; repeated and foreign events change nothing.
class hidden_wait {
public:
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;

  struct change {
    bool held = false;    ///< the limits stand still from here on
    duration counts = {}; ///< goes off what is left of them
  };

  /// @param now never earlier than before
  change take(const host_key& about, host_wait what, time_point now);

private:
  struct question {
    std::optional<time_point> since; ///< set: a connection waits
    duration waited{};
  };

  std::map<host_key, question> questions_;
  int waiting_ = 0; ///< of them
  time_point held_since_{};
  duration hidden_{}; ///< before that
  duration counted_{};
};

} // namespace gatehouse::actors
