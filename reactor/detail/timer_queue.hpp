#pragma once

#include "reactor/clock.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace gatehouse::reactor {

/// Timers in the order they fall due, first set first among equals. Knows no clock.
class timer_queue {
public:
  using key = std::pair<clock::time_point, std::uint64_t>;

  key add(clock::time_point due, std::function<void()> fn) {
    const key k{due, ++last_};
    entries_.emplace(k, std::move(fn));
    return k;
  }
  void cancel(const key& k) { entries_.erase(k); }
  [[nodiscard]] std::optional<clock::time_point> next_due() const {
    if (entries_.empty()) return std::nullopt;
    return entries_.begin()->first.first;
  }
  /// Runs what is due at `now` and was set before this call: a timer that sets itself again for
  /// "at once" waits for the next round, so that it cannot starve the loop.
  void run_due(clock::time_point now) {
    const auto newest = last_;
    for (auto it = entries_.begin(); it != entries_.end() && it->first.first <= now;) {
      if (it->first.second > newest) {
        ++it;
        continue;
      }
      const auto node = entries_.extract(it);
      node.mapped()();
      it = entries_.begin(); // the function may have set and cancelled others
    }
  }
  void clear() { std::exchange(entries_, {}).clear(); }

private:
  std::map<key, std::function<void()>> entries_;
  std::uint64_t last_ = 0;
};

} // namespace gatehouse::reactor
