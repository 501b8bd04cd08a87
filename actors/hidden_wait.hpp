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
  answered,   ///< a person has said yes or no
  decided,    ///< a hook or the automatic reviewer has
  unanswered, ///< nobody has, and the question is gone
};

/// For how long the time limits of one process stand still: while it waits for an answer about a
/// host (§95). A person's answer settles all that was hidden until then; an automatic one only what
/// its own question has hidden, for it says nothing about the others. Without a person a program
/// could make its life as long as it likes: what it waited for questions that went unanswered
/// counts after all when they go, never more than was hidden, and more than `most` is not hidden at
/// all. A value without a clock; repeated and foreign events change nothing.
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
    bool waits = false; ///< a connection does
    duration hidden{};  ///< while one did, since a person answered
  };

  void pass(time_point now);
  void settle_all();
  change now_on(duration counts);

  duration most_;
  std::map<host_key, question> questions_;
  int waiting_ = 0; ///< of them
  bool held_ = false;
  time_point seen_{};
  duration hidden_{};  ///< until `seen_`, and does not count yet
  duration settled_{}; ///< by automatic answers since a person's: of `most` it is used up
};

} // namespace gatehouse::actors
