#include "reactor/process.hpp"

#include "reactor/detail/event_loop_access.hpp"
#include "reactor/detail/process_tree.hpp"
#include "reactor/detail/start_child.hpp"
#include "reactor/read_memory.hpp"
#include "reactor/timer.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace gatehouse::reactor {
namespace {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;
using boost::system::error_code;

constexpr std::size_t default_pipe_bytes = 64 * 1024;
constexpr char end_of_file_character = '\x04';

/// One stream of the child's output.
struct channel {
  explicit channel(asio::io_context& context) : fd{context} {}

  stream_descriptor fd;
  std::size_t credit = 1;
  bool reading = false;
};

} // namespace

class process::impl final : public std::enable_shared_from_this<process::impl> {
public:
  impl(event_loop& loop, const spawn_request& request, started_child child,
       process_listener listener, process_limits limits)
      : loop_{loop}, limits_{limits}, terminal_{request.output == output_mode::pty},
        input_is_terminal_{request.input == stdin_mode::pty}, pid_{child.pid},
        listener_{std::make_shared<process_listener>(std::move(listener))},
        pidfd_{event_loop_access::context(loop), child.pidfd.release()},
        input_{event_loop_access::context(loop)}, channels_{channel{
                                                                event_loop_access::context(loop)},
                                                            channel{
                                                                event_loop_access::context(loop)}},
        grace_{loop}, drain_{loop} {
    if (child.output) channels_[0].fd.assign(child.output.release());
    if (child.errors) channels_[1].fd.assign(child.errors.release());
    if (child.input) input_.assign(child.input.release());
  }

  /// The loop itself has ended, or all is done.
  ~impl() {
    if (reaped_) return;
    kill_tree();
    pollfd exited{pidfd_.native_handle(), POLLIN, 0};
    constexpr int patience_ms = 1000; // a child stuck in the kernel is left to init
    ::poll(&exited, 1, patience_ms);
    reap();
  }

  void start() {
    watch_exit();
    for (auto& c : channels_)
      read(c);
  }

  void grant(output_stream stream) {
    auto& c = channels_[static_cast<std::size_t>(stream)];
    ++c.credit;
    read(c);
  }

  result<void> write_stdin(std::string bytes) {
    if (input_closing_ || !input_fd().is_open())
      return error{errc::invalid_request, "standard input of the process is closed",
                   "start it with a terminal, or with a pipe as its input"};
    if (bytes.size() > limits_.pending_input)
      return error{errc::too_large,
                   "one write holds at most " + std::to_string(limits_.pending_input) + " bytes",
                   "write it in parts"};
    if (bytes.size() > limits_.pending_input - std::min(limits_.pending_input, pending_))
      return error{errc::too_large,
                   "the process has not read its input: " + std::to_string(pending_) +
                       " bytes wait and the limit is " + std::to_string(limits_.pending_input),
                   "wait until it reads, then write again"};
    if (!bytes.empty()) queue(std::move(bytes));
    return {};
  }

  void close_stdin() {
    if (input_closing_ || !input_fd().is_open()) return;
    input_closing_ = true;
    if (input_is_terminal_)
      queue(std::string{end_of_file_character});
    else if (queue_.empty())
      close_input();
  }

  void signal(int number) {
    if (reaped_) return;
    // A zombie leader keeps the group's number reserved, so that it cannot mean another group.
    if (::kill(-pid_, number) != 0) ::kill(pid_, number);
  }

  void terminate(std::chrono::milliseconds grace) {
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

  void resize(window_size size) {
    if (!terminal_ || !channels_[0].fd.is_open()) return;
    const winsize window{size.rows, size.columns, 0, 0};
    ::ioctl(channels_[0].fd.native_handle(), TIOCSWINSZ, &window);
  }

  /// The owner is gone: no callback from here on.
  void abandon() {
    listener_.reset();
    if (finished_) return;
    kill_tree();
    for (auto& c : channels_)
      close(c);
    close_input();
    drain_.cancel();
    if (status_) finish();
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::optional<exit_status>& status() const { return status_; }
  [[nodiscard]] std::size_t pending_input() const { return pending_; }

private:
  // Every callback may destroy the owner; the copy keeps the function alive while it runs.
  template <class F, class... Args>
  void tell(F process_listener::*callback, const Args&... args) {
    const auto listener = listener_;
    if (listener && (*listener).*callback) ((*listener).*callback)(args...);
  }

  void watch_exit() {
    pidfd_.async_wait(stream_descriptor::wait_read, [self = shared_from_this()](error_code ec) {
      if (ec) return;
      self->on_readable_pidfd();
    });
  }

  void on_readable_pidfd() {
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

  void read(channel& c) {
    if (!c.fd.is_open() || c.reading || c.credit == 0 || cutting_) return;
    --c.credit;
    c.reading = true;
    c.fd.async_wait(stream_descriptor::wait_read,
                    [self = shared_from_this(), &c](error_code) { self->on_readable(c); });
  }

  void on_readable(channel& c) {
    if (c.fd.is_open() && !cutting_) take(c);
    c.reading = false;
    if (!c.fd.is_open()) return finish_when_drained();
    if (cutting_)
      read_rest(c);
    else
      read(c);
    finish_when_drained();
  }

  /// One credit's worth: until nothing is left or the buffer is full. A terminal gives at most one
  /// line buffer a time.
  void take(channel& c) {
    auto& bytes = read_memory();
    std::size_t size = 0;
    bool at_end = false;
    while (size < read_block) {
      const auto n = ::read(c.fd.native_handle(), bytes.data() + size, read_block - size);
      if (n < 0 && errno == EINTR) continue;
      at_end = n == 0 || (n < 0 && errno != EAGAIN); // on a terminal the end is EIO
      if (n <= 0) break;
      size += static_cast<std::size_t>(n);
      if (!terminal_) break;
    }
    if (size == 0 && !at_end) ++c.credit; // woken for nothing
    // Still "reading" for the callback: its `grant` must not start a second wait.
    if (size > 0) tell(&process_listener::on_output, name(c), std::string_view{bytes.data(), size});
    if (at_end) close(c);
  }

  /// The drain time-out: takes what the streams hold now, and closes them.
  void cut() {
    cutting_ = true;
    const auto self = shared_from_this();
    for (auto& c : channels_) {
      if (c.reading)
        c.fd.cancel(); // its handler takes the rest
      else if (c.fd.is_open())
        read_rest(c);
    }
    finish_when_drained();
  }

  void read_rest(channel& c) {
    // Bounded, since whoever holds the other end may write faster than we read.
    const int pipe_bytes = ::fcntl(c.fd.native_handle(), F_GETPIPE_SZ);
    auto left = pipe_bytes > 0 ? static_cast<std::size_t>(pipe_bytes) : default_pipe_bytes;
    bool at_end = false;
    while (left > 0) {
      auto& bytes = read_memory();
      const auto n = ::read(c.fd.native_handle(), bytes.data(), std::min(left, read_block));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        at_end = n == 0 || errno == EIO;
        break;
      }
      left -= static_cast<std::size_t>(n);
      tell(&process_listener::on_output, name(c),
           std::string_view{bytes.data(), static_cast<std::size_t>(n)});
      if (!c.fd.is_open()) return;
    }
    end_.drain_cut |= !at_end;
    close(c);
  }

  void finish_when_drained() {
    if (status_ && !finished_ && !any_open()) finish();
  }

  void finish() {
    finished_ = true;
    grace_.cancel();
    drain_.cancel();
    close_input();
    kill_tree();
    reap();
    const auto last = std::exchange(listener_, nullptr);
    if (last && last->on_end) last->on_end(end_);
  }

  void reap() {
    siginfo_t info{};
    ::syscall(SYS_waitid, P_PIDFD, pidfd_.native_handle(), &info, WEXITED | WNOHANG, nullptr);
    reaped_ = true;
    error_code ignored; // nothing is left to report
    pidfd_.close(ignored);
  }

  void remember_escapees() {
    if (!status_)
      for (auto& found : find_escapees(pid_))
        escapees_.push_back(std::move(found));
  }

  void signal_tree(int number) {
    signal(number);
    for (const auto& escapee : escapees_)
      send_signal(escapee, number);
  }

  void kill_tree() {
    remember_escapees();
    // The leader last: its end hangs up the terminal, and what still lives could answer that.
    for (const auto& escapee : escapees_)
      send_signal(escapee, SIGKILL);
    signal(SIGKILL);
  }

  stream_descriptor& input_fd() { return input_is_terminal_ ? channels_[0].fd : input_; }

  void queue(std::string bytes) {
    pending_ += bytes.size();
    queue_.push_back(std::move(bytes));
    if (queue_.size() == 1) write_front();
  }

  void write_front() {
    asio::async_write(
        input_fd(), asio::buffer(queue_.front()),
        [self = shared_from_this()](error_code ec, std::size_t) { self->on_written(ec); });
  }

  void on_written(error_code ec) {
    if (ec) {
      queue_.clear();
      pending_ = 0;
      return close_input();
    }
    pending_ -= queue_.front().size();
    queue_.pop_front();
    if (!queue_.empty()) return write_front();
    if (input_closing_) return close_input();
    tell(&process_listener::on_input_drained);
  }

  void close_input() {
    input_closing_ = true;
    error_code ignored; // nobody is told of a failed close
    input_.close(ignored);
  }

  void close(channel& c) {
    error_code ignored; // nothing more can be read whatever it says
    c.fd.close(ignored);
  }

  [[nodiscard]] bool any_open() const {
    return std::any_of(channels_.begin(), channels_.end(),
                       [](const channel& c) { return c.fd.is_open(); });
  }

  [[nodiscard]] output_stream name(const channel& c) const {
    return &c == &channels_[0] ? output_stream::standard_output : output_stream::standard_error;
  }

  event_loop& loop_;
  const process_limits limits_;
  const bool terminal_;
  const bool input_is_terminal_;
  const pid_t pid_;
  std::shared_ptr<process_listener> listener_;
  stream_descriptor pidfd_;
  stream_descriptor input_;
  std::array<channel, 2> channels_;
  timer grace_;
  timer drain_;
  std::vector<unique_fd> escapees_;
  std::optional<clock::time_point> kill_at_;
  std::optional<exit_status> status_;
  process_end end_;
  std::deque<std::string> queue_;
  std::size_t pending_ = 0;
  bool input_closing_ = false;
  bool cutting_ = false;
  bool finished_ = false;
  bool reaped_ = false;
};

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
