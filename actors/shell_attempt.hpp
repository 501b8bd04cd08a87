#pragma once

#include "actors/shell_runtime.hpp"
#include "protocol/sandbox_event.hpp"
#include "reactor/line_reader.hpp"
#include "reactor/process.hpp"
#include "reactor/timer.hpp"
#include "sandbox/launch.hpp"

#include <caf/typed_response_promise.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// What a runtime starts in the place of the attempt's own argv.
struct attempt_program {
  std::vector<std::string> command; ///< a program of ours, absolute; empty: the attempt's argv
  std::string input;                ///< written to its standard input
};

/// What the helper must be told of a boundary, whatever runs in it.
sandbox::launch_request launch_for(const shell_terms& terms, const std::string& policy_cwd,
                                   const std::vector<std::string>& workspace_roots,
                                   permission_profile profile, sandbox_backend backend);
/// Lets `launch.command`, a program of ours, be executed under profiles that do not show it.
void open_program(sandbox::launch_request& launch);

/// See shell_attempt_actor. The boundary is built by gatehouse-sandbox, also the one of a profile
/// that confines nothing: it supervises the tree.
class shell_attempt : public shell_attempt_actor::base {
public:
  shell_attempt(caf::actor_config& config, shell_terms terms, attempt_program program = {});

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.shell-attempt"; }

private:
  void start();
  void keep(reactor::output_stream stream, std::string_view bytes);
  void take(const sandbox_event& event);
  void stop(attempt_ending why);
  void hold(bool held);
  void finish_when_over();
  void finish();
  [[nodiscard]] std::optional<denial> find_denial(const captured_output& output) const;

  shell_terms terms_;
  attempt_program program_;
  attempt_ptr attempt_;
  caf::typed_response_promise<attempt_result_ptr> caller_;
  reactor::output_capture capture_;
  std::shared_ptr<reactor::process> process_;
  std::unique_ptr<reactor::line_reader> report_;
  reactor::timer limit_;
  reactor::clock::time_point started_at_;
  reactor::clock::time_point limit_at_;          ///< when the time limit falls due
  std::optional<reactor::clock::duration> left_; ///< of the time limit, while it stands still
  std::optional<attempt_ending> stopped_;        ///< time-out or cancellation, whichever came first
  std::optional<int> helper_status_;
  bool started_ = false; ///< the command was executed
  bool report_ended_ = false;
  attempt_record record_;
  std::optional<sandbox_event> last_word_; ///< how the command ended, by the helper's report
  std::vector<denial> observed_;
};

} // namespace gatehouse::actors
