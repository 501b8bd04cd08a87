#pragma once

#include "actors/hooked_call.hpp"
#include "actors/process_interfaces.hpp"
#include "actors/process_session.hpp"
#include "actors/process_store.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// How long the two tools wait (§122).
struct yield_bounds {
  std::chrono::milliseconds start_default{10'000};
  std::chrono::milliseconds write_default{250};
  std::chrono::milliseconds least{250};
  std::chrono::milliseconds most{30'000};
  std::chrono::milliseconds poll_least{5'000}; ///< write_stdin without input
  std::chrono::milliseconds poll_most{300'000};
};

struct process_manager_terms {
  process_terms process;
  /// Those of a process that starts now; unset, or nothing: `process`.
  std::function<std::optional<process_terms>()> process_now;
  /// Spawns a call (with its hooks, if any) whose attempts go to `runtime`; null: no more calls.
  std::function<tool_call_actor(const runtime_actor& runtime)> make_call;
  /// Asked before anything is written to a process that has more authority than its session gives
  /// by itself. Unset: such writes are refused.
  reviewer_actor reviewer;
  hook_settings hooks; ///< PostToolUse of the call whose end a poll sees (§124)
  yield_bounds yields;
  process_store::id_source ids = process_store::random_ids();
  process_store_limits limits;
};

/// The terminal sessions of one thread (§9, §118–§127): reserves an id, has the call run with
/// itself as its runtime, keeps what outlives it. A call that is cancelled while it waits takes its
/// process with it; sessions in the background stay until they end, are ended, or must make room.
/// Its end ends them all.
class process_manager : public process_manager_actor::base {
public:
  process_manager(caf::actor_config& config, process_manager_terms terms);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.process-manager"; }

private:
  /// An exec_command that has not been answered.
  struct open_call {
    int session_id = 0;
    exec_request_ptr request;
    std::chrono::milliseconds yield{0};
    caf::typed_response_promise<exec_reply_ptr> caller;
  };
  struct session {
    process_actor actor;
    exec_request_ptr request;
    attempt_ptr attempt;
    call_report_ptr report; ///< of its call, once that was answered
    reactor::clock::time_point started;
    bool background = false;
    bool running = true;
    bool dismissed = false; ///< ended by a person or evicted: nobody polls it any more
    std::vector<caf::typed_response_promise<bool>> enders;
  };
  /// A poll that saw the end, while PostToolUse hooks are asked.
  struct hooked_end {
    std::shared_ptr<exec_reply> reply;
    caf::typed_response_promise<exec_reply_ptr> caller;
    std::unique_ptr<hook_round> round;
    std::optional<hook_decision> said;
  };

  /// A write_stdin that has not been answered.
  struct open_write {
    int session_id = 0;
    std::string review_id; ///< not empty: somebody is asked about it
    caf::typed_response_promise<exec_reply_ptr> caller;
  };

  caf::result<exec_reply_ptr> exec_command(const exec_request_ptr& request);
  void request_call(const tool_call_actor& callee, const exec_request_ptr& request);
  caf::result<attempt_result_ptr> run_attempt(const attempt_ptr& what);
  void call_over(const std::string& call_id, const call_report_ptr& report);
  caf::result<exec_reply_ptr> write_stdin(const stdin_request_ptr& request);
  void review_write(const stdin_request_ptr& request,
                    const caf::typed_response_promise<exec_reply_ptr>& caller);
  void poll(const stdin_request_ptr& request, caf::typed_response_promise<exec_reply_ptr> caller);
  void polled(const stdin_request_ptr& request, const call_report_ptr& began,
              const poll_piece& piece, caf::typed_response_promise<exec_reply_ptr> caller);
  void ask_hooks(const exec_request& original, std::shared_ptr<exec_reply> reply,
                 caf::typed_response_promise<exec_reply_ptr> caller);
  void cancel_write(const std::string& call_id);
  void withdraw_writes(int id);
  void dismiss(int id);
  void forget(int id);
  void session_ended(int id);
  session* find(int id);
  [[nodiscard]] process_list list() const;
  std::string chunk_id();

  process_manager_terms terms_;
  process_store store_;
  std::map<std::string, open_call> calls_; ///< by call id
  std::map<std::string, tool_call_actor> callees_;
  std::map<std::string, open_write> writes_; ///< by call id
  std::map<int, session> sessions_;
  std::map<int, session> evicted_; ///< no longer in the table, not yet ended
  std::map<std::string, hooked_end> hooked_;
  std::uint64_t chunks_ = 0;
};

} // namespace gatehouse::actors
