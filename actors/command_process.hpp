#pragma once

#include "protocol/call_report.hpp"
#include "protocol/result.hpp"
#include "reactor/output_stream.hpp"
#include "reactor/process.hpp"
#include "reactor/unique_fd.hpp"
#include "sandbox/launch.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

/// How a command ended. `ending` is `exited` (with `exit_code`), `signalled` (with `signal`, and
/// with `failure` where its boundary was ended around it), `not_started` (with `failure`) or `lost`
/// (with `failure`: it was ended from outside or is out of reach, and may have run).
struct command_end {
  attempt_ending ending = attempt_ending::not_started;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::optional<error> failure;
  /// The program could not be executed: why. `ending` is then `exited` with 126 or 127.
  std::optional<int> exec_error;
  bool started = false;              ///< the command was executed
  std::vector<denial> observed;      ///< what the boundary refused
  std::vector<std::string> warnings; ///< about the boundary, before the start
  /// Of another machine: its boundary refused something, and nothing more is known about it.
  bool denied_elsewhere = false;
  /// Of another machine: it could not be reached, and `failure` says what that means for the
  /// command.
  bool out_of_reach = false;
};

/// A command to run behind a boundary, here or elsewhere.
struct command_request {
  sandbox::launch_request launch; ///< all but `report_fd` and `proxy_fd`
  std::vector<std::string> environment;
  bool tty = false;                 ///< a terminal as all three streams, else pipes
  bool pipe_input = false;          ///< without a terminal: standard input can be written
  std::string input;                ///< all of standard input, which then ends; empty: none
  reactor::unique_fd proxy_channel; ///< where listeners for the network proxy are handed out
  reactor::window_size terminal;
  reactor::process_limits limits;
};

/// All run on the loop and never inside a call of ours. Each may destroy the process; then no other
/// follows.
struct command_listener {
  /// Once, when the boundary stands and the command has been executed.
  std::function<void()> on_started;
  std::function<void(reactor::output_stream, std::string_view)> on_output;
  /// So many bytes of output will not come: they got lost on the way from another machine. A note
  /// about it follows as output.
  std::function<void(std::uint64_t)> on_lost{};
  /// Once: the command and all it started have ended; output may still follow. Of another machine
  /// again, right before `on_end`, with `failure`: what was to follow is lost.
  std::function<void(const command_end&)> on_exit;
  /// Once, last: the streams are at their end too, or were cut.
  std::function<void()> on_end;
  std::function<void()> on_input_drained;
};

/// A command that has been started, on this machine (helper_process) or another
/// (remote_environment). Its end kills what still runs, without a callback.
class command_process {
public:
  virtual ~command_process() = default;

  /// One more read of `stream`: once for each `on_output`.
  virtual void grant(reactor::output_stream stream) = 0;
  /// Errors as in reactor::process::write_stdin.
  virtual result<void> write_stdin(std::string bytes) = 0;
  [[nodiscard]] virtual std::size_t pending_input() const noexcept = 0;
  /// A signal for the command's process group; one that sandbox::can_be_passed_on() refuses would
  /// hit the processes around it.
  virtual void signal(int number) = 0;
  /// Kills the whole tree now.
  virtual void kill() = 0;
  virtual void resize(reactor::window_size size) = 0;
  /// A signal has stopped the command, and none has let it go on. Of another machine: not known.
  [[nodiscard]] virtual bool stopped() const noexcept = 0;
};

} // namespace gatehouse::actors
