#include "reactor/detail/byte_pump.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gatehouse::reactor {
namespace {

constexpr int pipe_bytes = 1024 * 1024; // fewer wake-ups for the same bytes
constexpr std::size_t most_idle = 16;
/// Then others get their turn.
constexpr int rounds_in_a_row = 32;

} // namespace

pipe_pool::pipe pipe_pool::take() {
  pipe p;
  if (!idle_.empty()) {
    p = std::move(idle_.back());
    idle_.pop_back();
    return p;
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return p;
  p.out.reset(ends[0]);
  p.in.reset(ends[1]);
  ::fcntl(ends[1], F_SETPIPE_SZ, pipe_bytes); // beyond the user's share it stays small
  return p;
}

void pipe_pool::give_back(pipe p) {
  if (idle_.size() < most_idle) idle_.push_back(std::move(p));
}

byte_pump::byte_pump(std::shared_ptr<watched_fd> from, std::shared_ptr<watched_fd> to,
                     std::shared_ptr<pipe_pool> pipes, listener l)
    : from_{std::move(from)}, to_{std::move(to)}, pipes_{std::move(pipes)}, listener_{
                                                                                std::move(l)} {}

void byte_pump::abandon() {
  ended_ = true;
  listener_ = {};
  pipe_ = {};
}

void byte_pump::end(bool whole) {
  ended_ = true;
  const auto keep = shared_from_this();
  const auto l = std::exchange(listener_, {});
  if (pipe_.in && waiting_ == 0) pipes_->give_back(std::move(pipe_));
  pipe_ = {};
  if (l.on_end) l.on_end(whole);
}

void byte_pump::step() {
  for (int round = 0; !ended_; ++round) {
    if (waiting_ == 0) {
      if (at_end_) {
        ::shutdown(to_->get(), SHUT_WR);
        return end(true);
      }
      if (round == rounds_in_a_row) break;
      if (!pipe_.in) pipe_ = pipes_->take();
      if (!pipe_.in) return end(false);
      const auto n = ::splice(from_->get(), nullptr, pipe_.in.get(), nullptr, pipe_bytes,
                              SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) break;
      if (n < 0) return end(false);
      at_end_ = n == 0;
      waiting_ = static_cast<std::size_t>(n);
      continue;
    }
    const auto n = ::splice(pipe_.out.get(), nullptr, to_->get(), nullptr, waiting_,
                            SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN)
      return to_->when_writable([self = shared_from_this()] { self->step(); });
    if (n <= 0) return end(false);
    waiting_ -= static_cast<std::size_t>(n);
    if (listener_.on_bytes) listener_.on_bytes();
  }
  if (ended_) return;
  if (pipe_.in) pipes_->give_back(std::exchange(pipe_, {}));
  from_->when_readable([self = shared_from_this()] { self->step(); });
}

} // namespace gatehouse::reactor
