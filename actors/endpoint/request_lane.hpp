#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

namespace gatehouse::actors {

/// The requests of one session that take their time (they read files): one after some turns of the
/// loop each, in their order, so that what is cheap is read meanwhile: answers and cancellations do
/// not wait behind them. Loop's thread.
class request_lane : public std::enable_shared_from_this<request_lane> {
public:
  using work = std::function<void()>;

  /// @param post runs a function on the loop, never inside the call
  /// @param turns of the loop before each
  request_lane(std::function<void(work)> post, std::size_t most, int turns = 64)
      : post_{std::move(post)}, most_{most}, turns_{turns}, left_{turns} {}

  [[nodiscard]] bool is_full() const noexcept { return waiting_.size() >= most_; }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }
  void add(work what);
  /// Calls `then` when nothing waits: now, or after the last.
  void when_empty(work then);
  /// What waits is forgotten.
  void clear() {
    waiting_.clear();
    at_end_ = {};
  }

private:
  void next();

  std::function<void(work)> post_;
  std::size_t most_;
  int turns_;
  int left_; ///< turns before the next
  std::deque<work> waiting_;
  work at_end_;
  bool posted_ = false;
};

} // namespace gatehouse::actors
