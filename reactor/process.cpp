#include "reactor/process.hpp"

#include "reactor/detail/event_loop_access.hpp"
#include "reactor/detail/process_impl.hpp"
#include "reactor/detail/process_tree.hpp"

#include <algorithm>
#include <csignal>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace gatehouse::reactor {

process::impl::impl(event_loop& loop, const spawn_request& request, started_child child,
                    process_listener listener, process_limits limits)
    : loop_{loop}, limits_{limits}, terminal_{request.output == output_mode::pty},
      input_is_terminal_{request.input == stdin_mode::pty},
      children_end_theirs_{request.children_end_theirs}, pid_{child.pid},
      listener_{std::make_shared<process_listener>(std::move(listener))},
      pidfd_{event_loop_access::context(loop), child.pidfd.release()},
      input_{event_loop_access::context(loop)}, channels_{channel{event_loop_access::context(loop)},
                                                          channel{
                                                              event_loop_access::context(loop)}},
      grace_{loop}, drain_{loop} {
  if (child.output) channels_[0].fd.assign(child.output.release());
  if (child.errors) channels_[1].fd.assign(child.errors.release());
  if (child.input) input_.assign(child.input.release());
}

process::impl::~impl() {
  if (reaped_) return;
  kill_tree();
  pollfd exited{pidfd_.native_handle(), POLLIN, 0};
  constexpr int patience_ms = 1000; // a child stuck in the kernel is left to init
  ::poll(&exited, 1, patience_ms);
  reap();
}

void process::impl::start() {
  watch_exit();
  for (auto& c : channels_)
    read(c);
}

void process::impl::signal(int number) {
  if (reaped_) return;
  // A zombie leader keeps the group's number reserved, so that it cannot mean another group.
  if (::kill(-pid_, number) != 0) ::kill(pid_, number);
}

void process::impl::terminate(std::chrono::milliseconds grace) {
  if (finished_) return;
  if (grace <= std::chrono::milliseconds::zero()) return kill_tree();
  const auto deadline = loop_.now() + grace;
  if (kill_at_ && *kill_at_ <= deadline) return;
  if (!kill_at_) {
    remember_escapees();
    signal_tree(SIGTERM);
    signal_tree(SIGCONT); // a stopped process would not see the first
  }
  kill_at_ = deadline;
  grace_.start_at(deadline, [this] { kill_tree(); });
}

void process::impl::resize(window_size size) {
  if (!terminal_ || !channels_[0].fd.is_open()) return;
  const winsize window{size.rows, size.columns, 0, 0};
  ::ioctl(channels_[0].fd.native_handle(), TIOCSWINSZ, &window);
}

void process::impl::abandon() {
  listener_.reset();
  if (finished_) return;
  kill_tree();
  for (auto& c : channels_)
    close(c);
  close_input();
  drain_.cancel();
  if (status_) finish();
}

void process::impl::watch_exit() {
  pidfd_.async_wait(stream_descriptor::wait_read, [self = shared_from_this()](error_code ec) {
    if (ec) return;
    self->on_readable_pidfd();
  });
}

void process::impl::on_readable_pidfd() {
  siginfo_t info{};
  // WNOWAIT: the zombie stays until `finish`, and its number with it.
  const auto got = ::syscall(SYS_waitid, P_PIDFD, pidfd_.native_handle(), &info,
                             WEXITED | WNOHANG | WNOWAIT, nullptr);
  if (got == 0 && info.si_pid == 0) return watch_exit();
  exit_status status;
  if (got != 0) {
    status.code = exit_status::unknown_code;
    reaped_ = true; // its number may already mean another process
  } else
    (info.si_code == CLD_EXITED ? status.code : status.signal) = info.si_status;
  status_ = status;
  tell(&process_listener::on_exit, status);
  if (finished_) return;
  if (any_open()) drain_.start(limits_.drain, [this] { cut(); });
  finish_when_drained();
}

void process::impl::finish_when_drained() {
  if (status_ && !finished_ && !any_open()) finish();
}

void process::impl::finish() {
  finished_ = true;
  grace_.cancel();
  drain_.cancel();
  close_input();
  kill_tree();
  reap();
  const auto last = std::exchange(listener_, nullptr);
  if (last && last->on_end) last->on_end(end_);
}

void process::impl::reap() {
  siginfo_t info{};
  ::syscall(SYS_waitid, P_PIDFD, pidfd_.native_handle(), &info, WEXITED | WNOHANG, nullptr);
  reaped_ = true;
  error_code ignored; // nothing is left to report
  pidfd_.close(ignored);
}

void process::impl::remember_escapees() {
  if (!status_)
    for (auto& found : find_escapees(pid_))
      escapees_.push_back(std::move(found));
}

void process::impl::signal_tree(int number) {
  signal(number);
  for (const auto& one : escapees_)
    send_signal(one.handle, number);
}

/// One that changes its number by forking falls to the leader's child, a sandbox helper, when its
/// parent ends, and is found there: only while that lives.
void process::impl::kill_below_children() {
  constexpr int most_rounds = 16;
  constexpr std::size_t most_found = 256; // a fork bomb must not keep the loop busy
  for (int round = 0; !status_ && round < most_rounds; ++round) {
    const auto found = find_escapees(pid_);
    bool any = false;
    for (const auto& one : found)
      if (!one.is_child) {
        send_signal(one.handle, SIGKILL);
        any = true;
      }
    if (!any || found.size() > most_found) return;
  }
}

void process::impl::kill_tree() {
  remember_escapees();
  if (!children_end_theirs_) kill_below_children();
  // The leader last: its end hangs up the terminal, and what still lives could answer that.
  for (const auto& one : escapees_)
    if (!(one.is_child && children_end_theirs_)) send_signal(one.handle, SIGKILL);
  signal(SIGKILL);
}

result<std::shared_ptr<process>> process::spawn(event_loop& loop, const spawn_request& request,
                                                process_listener listener, process_limits limits) {
  auto child = start_child(request);
  if (!child) return child.error();
  auto running =
      std::make_shared<impl>(loop, request, std::move(*child), std::move(listener), limits);
  running->start();
  return std::shared_ptr<process>{new process{std::move(running)}};
}

process::process(std::shared_ptr<impl> i) : impl_{std::move(i)} {}
process::~process() {
  impl_->abandon();
}

pid_t process::pid() const noexcept {
  return impl_->pid();
}
const std::optional<exit_status>& process::status() const noexcept {
  return impl_->status();
}
void process::grant(output_stream stream) {
  impl_->grant(stream);
}
result<void> process::write_stdin(std::string bytes) {
  return impl_->write_stdin(std::move(bytes));
}
std::size_t process::pending_input() const noexcept {
  return impl_->pending_input();
}
void process::close_stdin() {
  impl_->close_stdin();
}
void process::signal(int number) {
  impl_->signal(number);
}
void process::terminate(std::chrono::milliseconds grace) {
  impl_->terminate(grace);
}
void process::resize(window_size size) {
  impl_->resize(size);
}

} // namespace gatehouse::reactor
