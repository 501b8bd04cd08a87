#include "reactor/clock.hpp"

namespace gatehouse::reactor {

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
