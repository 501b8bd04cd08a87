#pragma once

#include "protocol/ip_address.hpp"

#include <cstdint>
#include <string_view>

namespace gatehouse::policy {

/// What a network does with an address (IANA special-purpose registries, RFC 6890). Only `global`
/// may be reached without a grant for the address itself (§143).
enum class address_kind : std::uint8_t {
  global,
  loopback,
  link_local,
  private_use, ///< RFC 1918, unique local, site-local
  shared,      ///< carrier-grade NAT, 100.64.0.0/10
  multicast,
  metadata, ///< services that hand out credentials to the machine
  reserved, ///< unspecified, documentation, benchmarking, transition mechanisms, unassigned
};
/// "a loopback address", "a private address", …: for people.
std::string_view describe(address_kind kind) noexcept;

/// Addresses that carry an IPv4 address for a translator count as that address.
address_kind classify(const ip_address& address) noexcept;

} // namespace gatehouse::policy
