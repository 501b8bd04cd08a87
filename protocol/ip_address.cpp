#include "protocol/ip_address.hpp"

#include <algorithm>
#include <cstring>

#include <arpa/inet.h>

namespace gatehouse {
namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

} // namespace

ip_address ipv4_address(std::uint32_t bits) noexcept {
  ip_address address;
  for (int i = 0; i < 4; ++i)
    address.bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(bits >> (24 - 8 * i));
  return address;
}

std::optional<ip_address> parse_ip_address(std::string_view text) {
  if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos)
    return std::nullopt;
  const std::string terminated{text};
  ip_address address;
  if (inet_pton(AF_INET, terminated.c_str(), address.bytes.data()) == 1) return address;
  if (inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) != 1) return std::nullopt;
  if (std::equal(mapped_prefix.begin(), mapped_prefix.end(), address.bytes.begin())) {
    ip_address plain;
    std::copy_n(address.bytes.begin() + 12, 4, plain.bytes.begin());
    return plain;
  }
  address.v6 = true;
  return address;
}

std::string to_string(const ip_address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(address.v6 ? AF_INET6 : AF_INET, address.bytes.data(), text.data(), text.size());
  return text.data();
}

} // namespace gatehouse
