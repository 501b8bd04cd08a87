#pragma once

#include "actors/call_flow.hpp"
#include "actors/judge.hpp"
#include "actors/question_asker.hpp"
#include "actors/shell_runtime_settings.hpp"
#include "protocol/call_report.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace gatehouse::actors {

struct call_host_settings {
  judgement_terms terms;
  shell_runtime_settings runtime;
  std::string gatehouse_home;                     ///< where approved rules go
  question_asker ask;                             ///< empty: no one can be asked
  std::function<void(const std::string&)> notice; ///< a line for people; never empty
};

/// Event loop and actors for a program that runs calls one after the other. The thread that makes
/// it must make the calls, too.
class call_host {
public:
  explicit call_host(call_host_settings settings);
  ~call_host();
  call_host(const call_host&) = delete;
  call_host& operator=(const call_host&) = delete;

  /// Runs one call to its end. `handler_refusal`: see call_start.
  call_report run_call(call_plan plan, std::optional<exec_requirement> handler_refusal = {});

  /// Takes the current call back; its report still comes. Any thread.
  void cancel();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Twenty unguessable characters for call_plan::review_nonce, from the system's random source.
std::string make_review_nonce();

} // namespace gatehouse::actors
