#include "reactor/clock.hpp"

namespace gatehouse::reactor {

std::int64_t unix_ms_now() noexcept {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void manual_clock::advance(duration by) {
  const auto end = now_ + by;
  if (loop_ != nullptr) loop_->run_due();
  while (loop_ != nullptr) {
    const auto due = loop_->next_due();
    if (!due || *due > end) break;
    if (*due > now_) now_ = *due;
    loop_->run_due();
  }
  now_ = end;
}

} // namespace gatehouse::reactor
