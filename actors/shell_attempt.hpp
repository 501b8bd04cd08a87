#pragma once

#include "actors/attempt_launch.hpp"
#include "actors/shell_runtime.hpp"
#include "reactor/timer.hpp"

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
  [[nodiscard]] result<command_request> plan();
  void keep(reactor::output_stream stream, std::string_view bytes);
  void stop(attempt_ending why);
  void hold(bool held, reactor::clock::duration counts);
  void finish();

  shell_terms terms_;
  attempt_program program_;
  attempt_ptr attempt_;
  caf::typed_response_promise<attempt_result_ptr> caller_;
  reactor::output_capture capture_;
  std::unique_ptr<command_process> process_;
  reactor::timer limit_;
  reactor::clock::time_point started_at_;
  reactor::clock::time_point limit_at_;          ///< when the time limit falls due
  std::optional<reactor::clock::duration> left_; ///< of the time limit, while it stands still
  std::optional<attempt_ending> stopped_;        ///< time-out or cancellation, whichever came first
  std::optional<command_end> end_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true); ///< for whoever calls us later
  attempt_record record_;
};

} // namespace gatehouse::actors
