#include "actors/endpoint/request_lane.hpp"

#include <utility>

namespace gatehouse::actors {

void request_lane::add(work what) {
  waiting_.push_back(std::move(what));
  if (!std::exchange(posted_, true)) post_([self = shared_from_this()] { self->next(); });
}

void request_lane::when_empty(work then) {
  if (waiting_.empty()) return then();
  at_end_ = std::move(then);
}

void request_lane::next() {
  posted_ = false;
  if (waiting_.empty()) return;
  work what;
  if (--left_ <= 0) {
    left_ = turns_;
    what = std::move(waiting_.front());
    waiting_.pop_front();
  }
  if (!waiting_.empty()) {
    posted_ = true;
    post_([self = shared_from_this()] { self->next(); });
  }
  if (what) what();
  if (!waiting_.empty()) return;
  if (const auto then = std::exchange(at_end_, {})) then();
}

} // namespace gatehouse::actors
