#include "actors/hidden_wait.hpp"

#include <algorithm>

namespace gatehouse::actors {

hidden_wait::change hidden_wait::take(const host_key& about, host_wait what, time_point now) {
  change out;
  auto& asked = questions_[about];
  if (what == host_wait::begins) {
    if (!asked.since) {
      asked.since = now;
      if (waiting_++ == 0) held_since_ = now;
    }
  } else if (asked.since) {
    asked.waited += now - *asked.since;
    asked.since.reset();
    if (--waiting_ == 0) hidden_ += now - held_since_;
  }
  out.held = waiting_ > 0;
  if (what == host_wait::unanswered) {
    const auto hidden = hidden_ + (out.held ? now - held_since_ : duration{});
    out.counts = std::min(asked.waited, hidden - counted_);
    counted_ += out.counts;
  }
  if (what == host_wait::answered || what == host_wait::unanswered) questions_.erase(about);
  return out;
}

} // namespace gatehouse::actors
