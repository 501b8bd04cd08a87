#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse::policy {

/// Where a network rule or a connection points.
struct network_host {
  /// Lower-case A-labels without the trailing dot, or an address in its shortest form without
  /// brackets: equal hosts are equal strings.
  std::string host;
  std::uint16_t port = 0; ///< 0: none given

  bool operator==(const network_host&) const = default;
};

/// Reads `host`, `host:port`, `[v6]`, `[v6]:port`, or a bare IPv6 address (§D15). Names go through
/// IDNA (UTS 46, non-transitional); numbers in any other form than dotted decimal are refused,
/// since resolvers disagree about them. Nothing: `why` says what is wrong, in one sentence.
std::optional<network_host> parse_network_host(std::string_view text, std::string& why);

} // namespace gatehouse::policy
