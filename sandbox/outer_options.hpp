#pragma once

#include "protocol/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// The command line of `gatehouse-sandbox` (§76).
struct outer_options {
  std::string policy_cwd;   ///< absolute: base of the profile's symbolic paths
  std::string command_cwd;  ///< absolute: where the command starts; defaults to `policy_cwd`
  std::string profile_json; ///< a permission profile, not yet parsed
  std::vector<std::string> workspace_roots; ///< absolute; defaults to `policy_cwd`
  std::string tmpdir;                       ///< meaning of `:tmpdir`; empty: nothing
  std::vector<std::string> protected_names; ///< beside the default ones (§D14)
  std::vector<std::string> protected_paths; ///< absolute; this program's own state, say (§63)
  /// Absolute; no confined command sees them, whatever the profile grants (§D13).
  std::vector<std::string> hidden_paths;
  bool proxy_network = false; ///< only the managed proxy can be reached (§80)
  int proxy_fd = -1; ///< a unix socket that takes the proxy's listeners; -1: nothing gets out
  bool local_binding = false;                 ///< programs may listen on their own loopback
  std::vector<std::uint16_t> forwarded_ports; ///< loopback ports that lead to the host's
  bool legacy_landlock = false;               ///< Landlock alone instead of bubblewrap (§83)
  int report_fd = -1;                         ///< JSON lines go here (sandbox/launch.hpp); -1: none
  std::vector<std::string> command;           ///< program and arguments, at least one
};

/// Usage text for people.
std::string_view outer_usage() noexcept;

/// The value `text` of `option`: the number of a descriptor above 2. Error: invalid_request
result<int> descriptor_number(std::string_view option, std::string_view text);

/// Reads `arguments` (without the program's name). `environment_tmpdir` is $TMPDIR, used unless
/// `--tmpdir` is given. Strict: an unknown or repeated option is an error.
/// @return errc::invalid_request that names the option
result<outer_options> parse_outer_options(std::span<const char* const> arguments,
                                          std::string_view environment_tmpdir);

} // namespace gatehouse::sandbox
