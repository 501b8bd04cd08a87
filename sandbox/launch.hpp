#pragma once

#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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

/// `gatehouse-sandbox --request-fd N ARGUMENTS` is told its real arguments over N, a SOCK_SEQPACKET
/// socket, in one message of at most so many bytes. Those of the command line, of a command that
/// was run before, only say which bubblewrap may be loaded meanwhile. Without a message it ends and
/// nothing runs.
inline constexpr std::string_view request_fd_option = "--request-fd";
inline constexpr std::size_t most_request_bytes = 64 * 1024;

/// That message for an argv of launch_argv(). Pure.
std::string late_request(const std::vector<std::string>& argv);
/// Waits for it and reads it: the arguments without the program's name. Errors: `invalid_request`
/// it is not whole; an empty list: whoever could have sent one has gone.
result<std::vector<std::string>> receive_late_request(int fd);

} // namespace gatehouse::sandbox
