#pragma once

#include "actors/command_process.hpp"
#include "protocol/sandbox_event.hpp"
#include "reactor/line_reader.hpp"
#include "reactor/process.hpp"
#include "reactor/spawn_request.hpp"
#include "reactor/unique_fd.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

/// What gatehouse-sandbox reports of one command, as it comes in. Pure.
class helper_report {
public:
  /// One line; what is no event is ignored. True: it says that the command has been executed.
  bool take_line(std::string_view line);
  [[nodiscard]] bool started() const noexcept { return started_; }
  /// The command stands still, by a signal.
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }
  /// @param status of the helper: its exit status, or minus the signal that ended it
  /// @param had_command false: it ended before it had read its command, so that nothing has run
  [[nodiscard]] command_end conclude(int status, bool had_command = true) const;

private:
  bool started_ = false;
  bool stopped_ = false;
  std::optional<sandbox_event> last_word_;
  std::vector<denial> observed_;
  std::vector<std::string> warnings_;
};

/// A command of this machine in its boundary: the one way in which commands are started here, with
/// a terminal or without, sandboxed or not. Its whole tree ends with it, with the helper, and with
/// the daemon (§99a).
class helper_process : public command_process {
public:
  /// Errors as in reactor::process::spawn, and `io`: no pipe. Then nothing runs.
  static result<std::unique_ptr<helper_process>>
  start(reactor::event_loop& loop, const command_request& request, command_listener listener);
  /// A helper that runs nothing until give(): its program is loaded ahead of its one command, and
  /// the bubblewrap that `before`, a command that was run, would have. Errors as above.
  static result<std::unique_ptr<helper_process>>
  start_ahead(reactor::event_loop& loop, const sandbox::launch_request& before,
              const std::vector<std::string>& environment);
  /// The helper's child ends all that is below it when the helper ends (spawn_request).
  [[nodiscard]] static bool collects(const sandbox::launch_request& launch) noexcept;
  /// Could one that was started ahead with the environment of `request` carry it out?
  [[nodiscard]] static bool fits(const command_request& request);
  /// Gives the only command to one that was started ahead; later calls, and those after its end,
  /// give nothing. @pre fits(request)
  /// @return false: the helper has got nothing and runs nothing; start another one
  bool give(const command_request& request, command_listener listener);
  /// Kills what still runs, without a callback.
  ~helper_process() override;
  helper_process(const helper_process&) = delete;
  helper_process& operator=(const helper_process&) = delete;

  void grant(reactor::output_stream stream) override;
  result<void> write_stdin(std::string bytes) override;
  [[nodiscard]] std::size_t pending_input() const noexcept override;
  /// A signal for the command's process group.
  void signal(int number) override;
  /// Kills the whole tree now.
  void kill() override;
  void resize(reactor::window_size size) override;
  [[nodiscard]] bool stopped() const noexcept override;
  [[nodiscard]] pid_t pid() const noexcept; ///< of the helper

private:
  explicit helper_process(command_listener listener) : listener_{std::move(listener)} {}
  static result<std::unique_ptr<helper_process>> start(reactor::event_loop& loop,
                                                       reactor::spawn_request spawn,
                                                       reactor::process_limits limits,
                                                       command_listener listener);
  void helper_exited(const reactor::exit_status& status);
  void report_ended();
  void tell_exit_when_known();
  [[nodiscard]] bool had_command() const noexcept;

  command_listener listener_;
  helper_report report_;
  std::unique_ptr<reactor::line_reader> reader_;
  std::shared_ptr<reactor::process> process_;
  reactor::unique_fd request_; ///< of one started ahead, until its command has begun
  bool given_ = false;         ///< it has got its command, or can get none
  std::optional<int> status_;
  bool report_ended_ = false;
  bool told_exit_ = false;
  bool streams_ended_ = false;
};

} // namespace gatehouse::actors
