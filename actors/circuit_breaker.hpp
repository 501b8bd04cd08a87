#pragma once

#include <cstddef>
#include <deque>
#include <string>

namespace gatehouse::actors {

/// Ends a turn in which the automatic reviewer keeps refusing (§48a): after 3 refusals in a row, or
/// 10 among the last 50 verdicts. Only verdicts count; a review that failed or timed out is none.
class circuit_breaker {
public:
  void allowed() { note(false); }
  void refused() { note(true); }

  [[nodiscard]] bool open() const noexcept { return !reason_.empty(); }
  /// Why it is open; empty while it is not.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

  /// A new turn: the user has had their say.
  void reset() { *this = {}; }

private:
  void note(bool refusal);

  std::deque<bool> recent_; ///< true: a refusal; the newest last
  std::size_t in_a_row_ = 0;
  std::string reason_;
};

} // namespace gatehouse::actors
