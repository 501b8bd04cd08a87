#pragma once

#include "protocol/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gatehouse::policy {

/// Which hosts a domain rule is about.
enum class domain_match : std::uint8_t {
  exact,       ///< `example.org`, `10.1.2.3`, `[::1]`
  below,       ///< `*.example.org`: every name below it, not the domain itself
  at_or_below, ///< `**.example.org`: the domain and every name below it
  any,         ///< `*`
};

/// One entry of `domains`. Wildcards never stand for addresses, except `*` for public ones.
struct domain_pattern {
  domain_match match = domain_match::exact;
  std::string host;       ///< as parse_network_host gives it; empty with `any`
  std::uint16_t port = 0; ///< 0: every port

  bool operator==(const domain_pattern&) const = default;
};

/// Reads `host`, `*.host`, `**.host` or `*`, each with an optional `:port`; letters in any case,
/// names in any script, a trailing dot or slash, and `http://` or `https://` in front (which means
/// port 80 or 443) are put right. Everything else is an error that says how to write it: a rule
/// that silently matches nothing is worse than none (BR-091).
/// @return errc::invalid_config
result<domain_pattern> parse_domain_pattern(std::string_view text);

/// `host` as parse_network_host gives it. `localhost` also stands for 127.0.0.1 and ::1.
bool matches(const domain_pattern& pattern, std::string_view host, std::uint16_t port);

} // namespace gatehouse::policy
