#include "actors/hidden_wait.hpp"

#include <algorithm>

namespace gatehouse::actors {

void hidden_wait::pass(time_point now) {
  if (held_) hidden_ += now - seen_;
  seen_ = now;
}

/// Somebody is there.
void hidden_wait::settle(time_point now) {
  hidden_ = {};
  for (auto& [about, asked] : questions_) {
    asked.waited = {};
    if (asked.since) asked.since = now;
  }
}

hidden_wait::change hidden_wait::now_on(duration counts) {
  held_ = waiting_ > 0 && hidden_ < most_;
  return {held_, held_ ? most_ - hidden_ : duration{}, counts};
}

hidden_wait::change hidden_wait::take(const host_key& about, host_wait what, time_point now) {
  pass(now);
  if (what == host_wait::begins) {
    auto& asked = questions_[about];
    if (!asked.since) {
      asked.since = now;
      ++waiting_;
    }
    return now_on({});
  }
  const auto found = questions_.find(about);
  if (found == questions_.end()) return now_on({});
  auto& asked = found->second;
  if (asked.since) {
    asked.waited += now - *asked.since;
    asked.since.reset();
    --waiting_;
  }
  if (what == host_wait::pauses) return now_on({});
  duration counts{};
  if (what == host_wait::answered) {
    settle(now);
  } else {
    counts = std::min(asked.waited, hidden_);
    hidden_ -= counts;
  }
  questions_.erase(found);
  return now_on(counts);
}

hidden_wait::change hidden_wait::look(time_point now) {
  pass(now);
  return now_on({});
}

} // namespace gatehouse::actors
