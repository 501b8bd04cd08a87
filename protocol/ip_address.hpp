#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse {

/// An internet address without port or zone. IPv4-mapped IPv6 addresses are the IPv4 address they
/// stand for, so that one address has one value.
struct ip_address {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{}; ///< network order; IPv4 uses the first four

  auto operator<=>(const ip_address&) const = default;
};

/// Reads dotted decimal or an IPv6 address without brackets. Every other spelling (octal, hex,
/// fewer than four parts, a zone) is nothing: resolvers disagree about what it means.
std::optional<ip_address> parse_ip_address(std::string_view text);

/// The shortest form, IPv6 without brackets.
std::string to_string(const ip_address& address);

/// IPv4 from its 32 bits in host order.
ip_address ipv4_address(std::uint32_t bits) noexcept;

} // namespace gatehouse
