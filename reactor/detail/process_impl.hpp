#pragma once

#include "reactor/detail/process_tree.hpp"
#include "reactor/detail/start_child.hpp"
#include "reactor/process.hpp"
#include "reactor/timer.hpp"
#include "reactor/unique_fd.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gatehouse::reactor {

/// What a `process` is made of. Its life and end are in process.cpp, its output in
/// process_output.cpp, its standard input in process_input.cpp. It outlives its `process` until the
/// child is reaped: what waits on the loop holds it.
class process::impl final : public std::enable_shared_from_this<process::impl> {
public:
  impl(event_loop& loop, const spawn_request& request, started_child child,
       process_listener listener, process_limits limits);
  /// The loop itself has ended, or all is done.
  ~impl();

  void start();
  /// The owner is gone: no callback from here on.
  void abandon();

  void signal(int number);
  void terminate(std::chrono::milliseconds grace);
  void resize(window_size size);

  void grant(output_stream stream);

  result<void> write_stdin(std::string bytes);
  void close_stdin();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::optional<exit_status>& status() const { return status_; }
  [[nodiscard]] std::size_t pending_input() const { return pending_; }

private:
  using stream_descriptor = boost::asio::posix::stream_descriptor;
  using error_code = boost::system::error_code;

  /// One stream of the child's output.
  struct channel {
    explicit channel(boost::asio::io_context& context) : fd{context} {}

    stream_descriptor fd;
    std::size_t credit = 1;
    bool reading = false;
  };

  // Every callback may destroy the owner; the copy keeps the function alive while it runs.
  template <class F, class... Args>
  void tell(F process_listener::*callback, const Args&... args) {
    const auto listener = listener_;
    if (listener && (*listener).*callback) ((*listener).*callback)(args...);
  }

  void watch_exit();
  void on_readable_pidfd();
  void finish_when_drained();
  void finish();
  void reap();

  void remember_escapees();
  void signal_tree(int number);
  void kill_below_children();
  void kill_tree();

  void read(channel& c);
  void on_readable(channel& c);
  /// One credit's worth: until nothing is left or the buffer is full. A terminal gives at most one
  /// line buffer a time.
  void take(channel& c);
  /// The drain time-out: takes what the streams hold now, and closes them.
  void cut();
  void read_rest(channel& c);
  void close(channel& c);
  [[nodiscard]] bool any_open() const;
  [[nodiscard]] output_stream name(const channel& c) const;

  stream_descriptor& input_fd() { return input_is_terminal_ ? channels_[0].fd : input_; }
  void queue(std::string bytes);
  void write_front();
  void on_written(error_code ec);
  void close_input();

  event_loop& loop_;
  const process_limits limits_;
  const bool terminal_;
  const bool input_is_terminal_;
  const bool children_end_theirs_;
  const pid_t pid_;
  std::shared_ptr<process_listener> listener_;
  stream_descriptor pidfd_;
  stream_descriptor input_;
  std::array<channel, 2> channels_;
  timer grace_;
  timer drain_;
  std::vector<escapee> escapees_;
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

} // namespace gatehouse::reactor
