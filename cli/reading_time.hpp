#pragma once

#include <algorithm>
#include <chrono>
#include <string_view>

namespace gatehouse::cli {

/// How long a question has stood. What was typed for another one, or before anybody can have read
/// this one, is no yes to it: only a plain no counts before the time is over. The same rule as in
/// the console. It knows no clock; each call says how late it is.
class reading_time {
public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds span{600};

  /// The question has been drawn, for the first time or anew.
  void start(time_point now) { drawn_ = now; }
  [[nodiscard]] bool over(time_point now) const { return now - drawn_ >= span; }
  /// Rounded up; 0: it is over.
  [[nodiscard]] std::chrono::milliseconds left(time_point now) const {
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(drawn_ + span - now),
                    std::chrono::milliseconds{0});
  }

private:
  time_point drawn_{};
};

/// Said instead of an answer that came too soon.
constexpr std::string_view read_it_first =
    "  this question has only just come; read it, then answer\n";

} // namespace gatehouse::cli
