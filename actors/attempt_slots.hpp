#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <set>
#include <utility>

namespace gatehouse::actors {

/// How many attempts a program runs at once over all of its threads. Who has to wait gets its turn
/// in the order of asking, one slot each time, so that no thread keeps the others out. Loop's
/// thread.
class attempt_slots {
public:
  using owner = const void*;

  explicit attempt_slots(std::size_t most) : most_{most} {}
  attempt_slots(const attempt_slots&) = delete;
  attempt_slots& operator=(const attempt_slots&) = delete;

  /// True: the caller has a slot. False: `granted` is called once when it has one, which it must
  /// acknowledge with take(); an owner waits for one slot at a time.
  bool ask(owner who, std::function<void()> granted);
  /// The owner has heard of the slot that it was granted.
  void take(owner who) { granted_.erase(who); }
  void give_back();
  /// The owner ends: what it waits for, or was granted and has not taken, goes to others.
  void leave(owner who);

  [[nodiscard]] std::size_t used() const noexcept { return used_; }

private:
  std::size_t most_;
  std::size_t used_ = 0;
  std::deque<std::pair<owner, std::function<void()>>> waiting_;
  std::set<owner> granted_; ///< that have not heard of it yet
};

} // namespace gatehouse::actors
