#include "reactor/event_loop.hpp"

#include "reactor/detail/event_loop_access.hpp"

#include <boost/asio/post.hpp>

#include <csignal>

namespace gatehouse::reactor {

namespace asio = boost::asio;

event_loop::impl::impl(std::shared_ptr<clock> c) : time{std::move(c)} {
  by_hand = time->drives(this);
  wake.emplace(context);
}

event_loop::impl::~impl() {
  closing = true;
  time->drives(nullptr);
  wake.reset();
  timers.clear();
}

void event_loop::impl::run_due() {
  timers.run_due(time->now());
  context.poll();
}

void event_loop::impl::arm() {
  if (by_hand || closing) return;
  const auto due = timers.next_due();
  // Waking too early for a timer that was cancelled is cheaper than arming again at each cancel.
  if (!due || *due >= armed_for) return;
  armed_for = *due;
  wake->expires_at(*due);
  wake->async_wait([this](const boost::system::error_code& ec) {
    if (ec) return;
    armed_for = clock::time_point::max();
    timers.run_due(time->now());
    arm();
  });
}

event_loop::event_loop() : event_loop{std::make_shared<steady_clock>()} {}

event_loop::event_loop(std::shared_ptr<clock> time)
    : impl_{std::make_unique<impl>(std::move(time))} {
  std::signal(SIGPIPE, SIG_IGN);
  // Whoever started us may have it ignored; then the kernel would drop our children's statuses.
  std::signal(SIGCHLD, SIG_DFL);
}

event_loop::~event_loop() = default;

void event_loop::run() {
  impl_->context.run();
  impl_->context.restart();
}

bool event_loop::run_until(const std::function<bool()>& done, std::chrono::milliseconds guard) {
  auto& context = impl_->context;
  const auto deadline = std::chrono::steady_clock::now() + guard;
  bool holds = done();
  while (!holds && !context.stopped() && std::chrono::steady_clock::now() < deadline) {
    context.run_one_until(deadline);
    holds = done();
  }
  if (context.stopped()) context.restart();
  return holds;
}

std::size_t event_loop::poll() {
  return impl_->context.poll();
}

void event_loop::stop() {
  impl_->context.stop();
}

void event_loop::post(std::function<void()> fn) {
  asio::post(impl_->context, std::move(fn));
}

bool event_loop::in_loop() const noexcept {
  return impl_->context.get_executor().running_in_this_thread();
}

clock::time_point event_loop::now() const noexcept {
  return impl_->time->now();
}

timer_queue::key event_loop_access::add_timer(event_loop& loop, clock::time_point due,
                                              std::function<void()> fn) {
  auto key = loop.impl_->timers.add(due, std::move(fn));
  loop.impl_->arm();
  return key;
}

void event_loop_access::cancel_timer(event_loop& loop, const timer_queue::key& key) {
  loop.impl_->timers.cancel(key);
}

} // namespace gatehouse::reactor
