#pragma once

#include "protocol/result.hpp"
#include "protocol/sandbox_choice.hpp"
#include "sandbox/event_report.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/supervisor.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gatehouse::sandbox {

/// Exit statuses of our own; every other one is the command's.
inline constexpr int exit_wrong_usage = 2;
inline constexpr int exit_no_boundary = 121;

/// What the inner stage is to do.
struct inner_request {
  bool confine = true; ///< false: disabled and external profiles, which are only supervised
  network_mode network = network_mode::isolated;
  bool guard_creation = false;
  bool own_terminal = false; ///< see leads_terminal_session()
  bool on_host = false;      ///< confined without bubblewrap (sandbox/landlock_backend.hpp)
  std::vector<std::string> command;
  std::vector<std::string> environment; ///< "NAME=value"
  std::vector<std::string> write_paths;
  std::vector<mount_step> steps; ///< what is left to do of the view (sandbox/view_shares.hpp)
  std::string folder; ///< with bubblewrap's share only: where the command starts; else empty
  /// proxy_only: a unix socket that takes the listeners made inside, each with its port as 32 bits
  /// in host order; -1: nobody listens and nothing gets out.
  int proxy_channel = -1;
  std::vector<std::uint16_t> forwarded_ports; ///< at most init::most_forwarded_ports
  /// Called when the program could not be executed: what to add to the message, or nothing. May be
  /// null.
  std::function<std::string()> explain_missing;
};

/// True when standard input is the controlling terminal of a session that this process leads, that
/// is, a pseudo-terminal made for it.
bool leads_terminal_session() noexcept;

/// False when it is certain that this session has no controlling terminal that the command could
/// reach: only then it needs no session of its own (which the scheduler makes expensive on a busy
/// machine, because it starts a new group of tasks for each).
bool session_has_terminal() noexcept;

/// The inner stage and, around it, bubblewrap. Starting is apart from telling what to do, so that
/// the programs load while the view is still being planned. Until it is told, bubblewrap has made
/// no namespace and no mount; when this object ends before that, the child ends with it, and the
/// inner stage, were it ever reached, does nothing without the last word of run().
class inner_stage {
public:
  /// `bwrap`: the program to build the view with; empty: the inner stage is started directly.
  /// `inherited`: descriptors that the arguments given to run() will name. `new_session`: the child
  /// has no controlling terminal; bubblewrap sees to that by itself.
  /// @pre descriptors 0 to 2 are open and everything above is close-on-exec
  static result<inner_stage> start(const std::string& init_path, const std::string& bwrap,
                                   std::span<const int> inherited, bool new_session = false);

  inner_stage(inner_stage&&) noexcept;
  inner_stage& operator=(inner_stage&&) = delete;
  ~inner_stage();

  /// The child has not ended, as it may when it is started ahead and waits.
  [[nodiscard]] bool lives() const noexcept;

  /// Tells the child what to do (`bwrap_arguments`: without the payload), serves `watcher` (may be
  /// null), forwards signals, reports, and returns the exit status of the command once every
  /// process of it has ended. Nothing when the inner stage could not do its share of the view: then
  /// nothing ran and nothing was reported.
  std::optional<int> run(const inner_request& request, std::span<const std::string> bwrap_arguments,
                         supervisor* watcher, event_report& report);

private:
  struct state;
  explicit inner_stage(std::unique_ptr<state> s) noexcept;
  std::unique_ptr<state> state_;
};

} // namespace gatehouse::sandbox
