#include "actors/attempt_slots.hpp"

#include <algorithm>

namespace gatehouse::actors {

bool attempt_slots::ask(owner who, std::function<void()> granted) {
  const bool waits = granted_.contains(who) ||
                     std::ranges::any_of(waiting_, [who](const auto& w) { return w.first == who; });
  if (waits) return false;
  if (used_ < most_) {
    ++used_;
    return true;
  }
  waiting_.emplace_back(who, std::move(granted));
  return false;
}

void attempt_slots::give_back() {
  if (waiting_.empty()) {
    --used_;
    return;
  }
  auto [who, tell] = std::move(waiting_.front());
  waiting_.pop_front();
  granted_.insert(who);
  tell();
}

void attempt_slots::leave(owner who) {
  std::erase_if(waiting_, [who](const auto& w) { return w.first == who; });
  if (granted_.erase(who) > 0) give_back();
}

} // namespace gatehouse::actors
