#pragma once

#include "actors/attempt_slots.hpp"
#include "actors/interfaces.hpp"
#include "actors/network_link.hpp"
#include "policy/access.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/output_capture.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

class remote_environment; // actors/remote_environment.hpp
class waiting_helper;     // actors/waiting_helper.hpp

/// What every attempt of a host has in common.
struct shell_terms {
  reactor::event_loop* loop = nullptr;  ///< outlives the actors
  std::string helper;                   ///< absolute path of gatehouse-sandbox
  std::vector<std::string> environment; ///< "K=V", of the commands
  /// Symbolic paths and protections; roots and cwd are taken from the attempt.
  policy::access_context context;
  std::vector<std::string> protected_names; ///< of the configuration, beside the default ones
  std::vector<std::string> hidden_paths; ///< that no confined command may see: credentials of ours
  /// Those of them that were named since; asked before each attempt, may be unset. On the loop.
  std::function<std::vector<std::string>()> hidden_since;
  std::chrono::milliseconds default_timeout{10'000}; ///< §95
  std::chrono::milliseconds end_grace{2'000};        ///< between SIGTERM and SIGKILL
  reactor::capture_limits capture;
  /// The machine that commands run on; null: this one.
  std::shared_ptr<remote_environment> remote;
  /// Shared by the threads of a program that runs many commands; unset: none is started ahead.
  std::shared_ptr<waiting_helper> ahead;
  /// Ties an attempt to its network registration; unset: there is no managed network here.
  network_attacher attach_network;
  /// Attempts that run at the same time; more wait for their turn, the oldest first.
  std::size_t max_running = 64;
  /// Shared by the threads of a program; unset: only `max_running` counts.
  std::shared_ptr<attempt_slots> slots;
  /// Output as it comes, when somebody watches; may be empty. On the loop.
  std::function<void(const attempt_terms&, output_stream, std::string_view)> on_output;
};

/// One attempt: the helper process, its output, its report, its time limit (§94–§99a). Ends with
/// it.
using shell_attempt_actor = runtime_actor::extend<
    // INTERNAL: the helper and its streams have ended.
    caf::reacts_to<ended_atom>,
    // INTERNAL: somebody is asked about a host: the time limit stands still, or goes on; so much
    // goes off it.
    caf::reacts_to<hold_atom, bool, caf::timespan>,
    // INTERNAL: a reviewer refused what the process waits for: it must not go on (§116).
    caf::reacts_to<refuse_atom>>;

using shell_runtime_actor = runtime_actor::extend<
    // INTERNAL: the slot that was waited for is ours.
    caf::reacts_to<run_atom>>;

/// Runs commands (§3, §45): each attempt in an actor of its own. Its end cancels what still runs or
/// waits.
class shell_runtime : public shell_runtime_actor::base {
public:
  shell_runtime(caf::actor_config& config, shell_terms terms);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.shell-runtime"; }

private:
  struct waiting_attempt {
    attempt_ptr what;
    caf::typed_response_promise<attempt_result_ptr> promise;
  };
  shell_attempt_actor spawn_for(const attempt_ptr& what);
  void start(waiting_attempt next);
  void start_waiting();
  /// False: a message comes when there is one.
  bool has_slot();

  shell_terms terms_;
  std::map<std::string, shell_attempt_actor> running_; ///< by call id
  std::deque<waiting_attempt> waiting_;
  std::map<std::string, waiting_attempt> answered_here_; ///< that had to wait; by call id
};

} // namespace gatehouse::actors
