#pragma once

#include "actors/call_flow.hpp"
#include "actors/guardian.hpp"
#include "actors/hooked_call.hpp"
#include "actors/shell_runtime.hpp"
#include "actors/tool_call.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/worker_pool.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// Asks a person. Runs on a thread of its own and may block; when the flag becomes true the
/// question is moot, and it must return soon, with any answer.
using question_asker =
    std::function<review_answer(const review_request&, const std::atomic<bool>& withdrawn)>;

struct host_terms {
  judgement_terms judgement;
  shell_terms shell;         ///< `loop` is set by the host
  std::string patch_program; ///< absolute path of gatehouse-sandbox-patch
  /// Unset: nobody can be asked, and a question that comes this far is refused with the reason.
  question_asker ask;
  std::string nobody_reason;
  hook_settings hooks; ///< `loop` is set by the host
  /// The automatic reviewer (§48a). Unset: there is none.
  std::optional<guardian_program> guardian;
  bool auto_review = false; ///< it answers instead of the user
  approval_policy approval; ///< decides whether it may
  std::string boundary;     ///< for it: what the sandbox keeps from commands
  /// Keeps an approved rule (§42); may block. Unset: rules are not kept.
  std::function<void(const std::vector<std::string>&)> add_rule;
};

/// Event loop, actors and workers of one program that runs tool calls. One thread uses it.
class call_host {
public:
  explicit call_host(host_terms terms);
  ~call_host();
  call_host(const call_host&) = delete;
  call_host& operator=(const call_host&) = delete;

  [[nodiscard]] reactor::event_loop& loop() noexcept;

  /// Runs one call to its end. `stop` (may be empty) is asked while it runs, at every event: true
  /// ends the call as a cancellation.
  call_report run(call_start start, const std::function<bool()>& stop = {});

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace gatehouse::actors
