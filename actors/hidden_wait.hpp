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
/// host (§95). An answer settles all that was hidden until then. Without one a program could make
/// its life as long as it likes: what it waited for questions that went unanswered counts after all
/// when they go, never more than was hidden, and more than `most` is not hidden at all.
/// A value without a clock; repeated and foreign events change nothing.
class hidden_wait {
public:
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;

  /// Long enough for a person who has gone to lunch.
  static constexpr duration usual_most = std::chrono::hours{1};

  explicit hidden_wait(duration most = usual_most) : most_{most} {}

  struct change {
    bool held = false;     ///< the limits stand still from here on
    duration at_most = {}; ///< held: `look` is due then, if nothing else comes
    duration counts = {};  ///< goes off what is left of them
  };

  /// @param now never earlier than before; likewise below
  change take(const host_key& about, host_wait what, time_point now);
  change look(time_point now);

private:
  struct question {
    std::optional<time_point> since; ///< set: a connection waits
    duration waited{};               ///< before that, since somebody answered
  };

  void pass(time_point now);
  void settle(time_point now);
  change now_on(duration counts);

  duration most_;
  std::map<host_key, question> questions_;
  int waiting_ = 0; ///< of them
  bool held_ = false;
  time_point seen_{};
  duration hidden_{}; ///< until `seen_`, and does not count yet
};

} // namespace gatehouse::actors
