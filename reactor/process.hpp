#pragma once

#include "protocol/result.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/output_stream.hpp"
#include "reactor/spawn_request.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace gatehouse::reactor {

/// How the child itself ended. Exactly one of `code` and `signal` is set.
struct exit_status {
  /// The `code` when foreign code in the daemon took the child's status from us.
  static constexpr int unknown_code = -1;

  std::optional<int> code;
  std::optional<int> signal;
};

/// What the end of a process means for its output.
struct process_end {
  /// Something that outlived the child still held a stream when the drain time-out passed; what it
  /// had written by then was delivered.
  bool drain_cut = false;
};

/// All run on the loop and never inside a call of ours. Each may destroy the `process`; then no
/// other follows.
struct process_listener {
  /// Bytes as they were read, at most 64 KiB, possibly cut inside a character.
  std::function<void(output_stream, std::string_view)> on_output;
  /// Once, when the child has exited; output may still follow.
  std::function<void(const exit_status&)> on_exit;
  /// Once, last: the child has exited, and its streams are at their end or were cut.
  std::function<void(const process_end&)> on_end;
  /// All that was written to standard input has been taken by the pipe or terminal.
  std::function<void()> on_input_drained;
};

struct process_limits {
  /// How long after its exit the child's streams may stay open, since a process that it left behind
  /// may hold them for ever.
  std::chrono::milliseconds drain{2000};
  /// Bytes of standard input that may wait to be written.
  std::size_t pending_input = 1024 * 1024;
};

/// A child of the daemon, its streams and its end. Completion follows the child's exit (pidfd),
/// never the end of its output. Output is paced by credit: each stream is read once, and again only
/// after `grant`. Whatever ends it (its exit, `terminate`, destruction), what is left of its
/// process group is killed with it, and its number stays reserved until then, so that no signal can
/// hit a stranger.
class process {
public:
  /// Starts a child: the only place of the daemon that does. Errors as in detail/start_child.hpp:
  /// `not_found`, `invalid_request`, `too_large`, `io`, `spawn_failed`; then nothing runs and no
  /// listener is called. The calling thread must live as long as the child: its end kills it.
  static result<std::shared_ptr<process>> spawn(event_loop& loop, const spawn_request& request,
                                                process_listener listener,
                                                process_limits limits = {});

  /// Kills what still runs, without a callback; the loop reaps it.
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  [[nodiscard]] pid_t pid() const noexcept;
  [[nodiscard]] const std::optional<exit_status>& status() const noexcept;

  /// Returns one read's credit for `stream`: call it once per `on_output`.
  void grant(output_stream stream);

  /// Queues bytes for standard input. Errors: `invalid_request` it is closed or not a pipe or
  /// terminal, `too_large` more would wait than the limit (nothing of `bytes` is queued). A reader
  /// that goes away closes it quietly.
  result<void> write_stdin(std::string bytes);
  [[nodiscard]] std::size_t pending_input() const noexcept;
  /// Ends standard input after what is queued: a pipe is closed, a terminal gets its end-of-file
  /// character.
  void close_stdin();

  /// Sends a signal to the process group, as Ctrl-C sends SIGINT.
  void signal(int number);
  /// SIGTERM to the tree, SIGKILL to all that is left of it after `grace` (at once when zero).
  /// Calling it again can only shorten the time. `on_exit` and `on_end` follow as always.
  void terminate(std::chrono::milliseconds grace);
  /// Sets the size of the terminal; nothing to do for pipes.
  void resize(window_size size);

private:
  class impl;
  explicit process(std::shared_ptr<impl> i);
  std::shared_ptr<impl> impl_;
};

} // namespace gatehouse::reactor
