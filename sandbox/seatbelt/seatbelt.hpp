#pragma once

#include "policy/access.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"
#include "protocol/sandbox_choice.hpp"
#include "sandbox/host_paths.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gatehouse::sandbox {

/// What macOS is told for one attempt (§70–§74): policy text in Apple's sandbox language and the
/// values of its parameters. Never run by this project; see docs/platforms.md.
struct seatbelt_policy {
  std::string text;
  /// (name, path): every path stands here or, escaped, in a regex; none is part of the syntax.
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<std::string> warnings;

  bool operator==(const seatbelt_policy&) const = default;
};

struct seatbelt_network {
  network_mode mode = network_mode::isolated;
  /// proxy_only: ports of the managed proxy on the loopback.
  std::vector<std::uint16_t> proxy_ports;
};

/// Turns a profile into a policy that refuses by default. The last rule that matches decides, so
/// that the rules stand in the order of depth, and denied globs after all. Pure; `facts` as
/// gather_host_facts() makes them.
///
/// Errors: what the capability table refuses; a managed network without a proxy port; a path that
/// cannot be passed on.
/// @pre the profile is managed
result<seatbelt_policy> make_seatbelt_policy(const permission_profile& profile,
                                             const policy::access_context& context,
                                             const host_facts& facts,
                                             const seatbelt_network& network);

/// `/usr/bin/sandbox-exec -p … -DNAME=… -- command`: always this program, whatever PATH says.
std::vector<std::string> seatbelt_argv(const seatbelt_policy& policy,
                                       const std::vector<std::string>& command);

/// An extended regular expression for one path and what lies below it, without regard to ASCII
/// case, as macOS volumes have it.
std::string seatbelt_path_regex(std::string_view path);

/// `text` as a string literal of the language.
std::string seatbelt_string(std::string_view text);

} // namespace gatehouse::sandbox
