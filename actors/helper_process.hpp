#pragma once

#include "protocol/call_report.hpp"
#include "protocol/sandbox_event.hpp"
#include "reactor/line_reader.hpp"
#include "reactor/process.hpp"
#include "reactor/unique_fd.hpp"
#include "sandbox/launch.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

/// How a command ended, by the helper's report and the helper's own end. `ending` is `exited` (with
/// `exit_code`), `signalled` (with `signal`) or `not_started` (with `failure`).
struct helper_end {
  attempt_ending ending = attempt_ending::not_started;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::optional<error> failure;
  /// The program could not be executed: why. `ending` is then `exited` with 126 or 127.
  std::optional<int> exec_error;
  bool started = false;              ///< the command was executed
  std::vector<denial> observed;      ///< what the boundary refused
  std::vector<std::string> warnings; ///< about the boundary, before the start
};

/// What gatehouse-sandbox reports of one command, as it comes in. Pure.
class helper_report {
public:
  /// One line; what is no event is ignored. True: it says that the command has been executed.
  bool take_line(std::string_view line);
  [[nodiscard]] bool started() const noexcept { return started_; }
  /// @param status of the helper: its exit status, or minus the signal that ended it
  [[nodiscard]] helper_end conclude(int status) const;

private:
  bool started_ = false;
  std::optional<sandbox_event> last_word_;
  std::vector<denial> observed_;
  std::vector<std::string> warnings_;
};

/// A command to run in gatehouse-sandbox.
struct helper_request {
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
struct helper_listener {
  /// Once, when the boundary stands and the command has been executed.
  std::function<void()> on_started;
  std::function<void(reactor::output_stream, std::string_view)> on_output;
  /// Once: the command and all it started have ended; output may still follow.
  std::function<void(const helper_end&)> on_exit;
  /// Once, last: the streams are at their end too, or were cut.
  std::function<void()> on_end;
  std::function<void()> on_input_drained;
};

/// A command in its boundary: the one way in which commands are started, with a terminal or
/// without, sandboxed or not. Its whole tree ends with it, with the helper, and with the daemon
/// (§99a).
class helper_process {
public:
  /// Errors as in reactor::process::spawn, and `io`: no pipe. Then nothing runs.
  static result<std::unique_ptr<helper_process>>
  start(reactor::event_loop& loop, const helper_request& request, helper_listener listener);
  /// Kills what still runs, without a callback.
  ~helper_process();
  helper_process(const helper_process&) = delete;
  helper_process& operator=(const helper_process&) = delete;

  void grant(reactor::output_stream stream);
  result<void> write_stdin(std::string bytes);
  [[nodiscard]] std::size_t pending_input() const noexcept;
  /// A signal for the command's process group.
  void signal(int number);
  /// Kills the whole tree now.
  void kill();
  void resize(reactor::window_size size);
  [[nodiscard]] pid_t pid() const noexcept; ///< of the helper

private:
  explicit helper_process(helper_listener listener) : listener_{std::move(listener)} {}
  void helper_exited(const reactor::exit_status& status);
  void report_ended();
  void tell_exit_when_known();

  helper_listener listener_;
  helper_report report_;
  std::unique_ptr<reactor::line_reader> reader_;
  std::shared_ptr<reactor::process> process_;
  std::optional<int> status_;
  bool report_ended_ = false;
  bool told_exit_ = false;
  bool streams_ended_ = false;
};

} // namespace gatehouse::actors
