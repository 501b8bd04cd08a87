#include "reactor/timer.hpp"

#include "reactor/detail/event_loop_access.hpp"

namespace gatehouse::reactor {

void timer::start(clock::duration after, std::function<void()> fn) {
  start_at(loop_.now() + after, std::move(fn));
}

void timer::start_at(clock::time_point due, std::function<void()> fn) {
  cancel();
  key_ = event_loop_access::add_timer(loop_, due, [this, fn = std::move(fn)] {
    key_.reset();
    fn();
  });
}

void timer::cancel() {
  if (!key_) return;
  event_loop_access::cancel_timer(loop_, *key_);
  key_.reset();
}

} // namespace gatehouse::reactor
