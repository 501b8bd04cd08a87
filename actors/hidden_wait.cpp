#include "actors/hidden_wait.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::actors {

void hidden_wait::pass(time_point now) {
  if (held_) {
    const auto more = now - seen_;
    hidden_ += more;
    for (auto& [about, asked] : questions_)
      if (asked.waits) asked.hidden += more;
  }
  seen_ = now;
}

/// Somebody is there.
void hidden_wait::settle_all() {
  hidden_ = {};
  settled_ = {};
  for (auto& [about, asked] : questions_)
    asked.hidden = {};
}

hidden_wait::change hidden_wait::now_on(duration counts) {
  const auto left = most_ - hidden_ - settled_;
  held_ = waiting_ > 0 && left > duration{};
  return {held_, held_ ? left : duration{}, counts};
}

hidden_wait::change hidden_wait::take(const host_key& about, host_wait what, time_point now) {
  pass(now);
  if (what == host_wait::begins) {
    auto& asked = questions_[about];
    if (!std::exchange(asked.waits, true)) ++waiting_;
    return now_on({});
  }
  const auto found = questions_.find(about);
  if (found == questions_.end()) return now_on({});
  auto& asked = found->second;
  if (std::exchange(asked.waits, false)) --waiting_;
  if (what == host_wait::pauses) return now_on({});
  duration counts{};
  if (what == host_wait::answered) {
    settle_all();
  } else {
    // What was hidden for two questions at once goes with the first of them.
    const auto own = std::min(asked.hidden, hidden_);
    hidden_ -= own;
    (what == host_wait::decided ? settled_ : counts) += own;
  }
  questions_.erase(found);
  return now_on(counts);
}

hidden_wait::change hidden_wait::look(time_point now) {
  pass(now);
  return now_on({});
}

} // namespace gatehouse::actors
