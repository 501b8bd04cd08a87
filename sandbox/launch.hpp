#pragma once

#include "protocol/permission_profile.hpp"

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

namespace gatehouse::sandbox {

/// Everything `gatehouse-sandbox` must be told for one attempt.
struct launch_request {
  std::string helper;     ///< absolute path of gatehouse-sandbox
  std::string policy_cwd; ///< absolute
  std::string command_cwd;
  permission_profile profile; ///< disabled or external: supervised, not confined
  std::vector<std::string> workspace_roots;
  std::string tmpdir;                       ///< of the command's environment; empty: none
  std::vector<std::string> protected_names; ///< beside the default ones
  std::vector<std::string> protected_paths;
  bool managed_network = false; ///< only the managed proxy can be reached
  int proxy_fd = -1; ///< the child's number of the socket that takes the proxy's listeners
  bool local_binding = false;
  std::vector<std::uint16_t> forwarded_ports;
  int report_fd = -1; ///< the child's number of the descriptor that takes the report
  std::vector<std::string> command;
  bool legacy_landlock = false; ///< only when somebody asked for it (§83)
  /// What no confined command may see, whatever the profile grants; missing ones are passed over.
  std::vector<std::string> hidden_paths{};
};

/// What the helper passes on to the command's process group.
inline constexpr int forwarded_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1,
                                            SIGUSR2, SIGTERM, SIGCONT, SIGWINCH};

/// Does this signal, sent to the helper, do to the command what it would do to a process? SIGKILL
/// does, since everything ends with the helper. Others would stop or end the processes that hold
/// the boundary while the command goes on.
bool can_be_passed_on(int signal) noexcept;

/// The argv of the helper (§76). Pure.
std::vector<std::string> launch_argv(const launch_request& request);

} // namespace gatehouse::sandbox
