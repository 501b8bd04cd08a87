#include "policy/address_kind.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>

namespace gatehouse::policy {
namespace {

constexpr std::uint32_t v4(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

struct v4_range {
  std::uint32_t base;
  int bits;
  address_kind kind;
};

/// The first range that holds an address decides.
constexpr v4_range v4_ranges[] = {
    {v4(169, 254, 169, 254), 32, address_kind::metadata},
    {v4(169, 254, 169, 253), 32, address_kind::metadata},
    {v4(169, 254, 170, 2), 32, address_kind::metadata},
    {v4(169, 254, 170, 23), 32, address_kind::metadata},
    {v4(100, 100, 100, 200), 32, address_kind::metadata},
    {v4(168, 63, 129, 16), 32, address_kind::metadata},
    {v4(192, 0, 0, 192), 32, address_kind::metadata},
    {v4(0, 0, 0, 0), 8, address_kind::reserved},
    {v4(10, 0, 0, 0), 8, address_kind::private_use},
    {v4(100, 64, 0, 0), 10, address_kind::shared},
    {v4(127, 0, 0, 0), 8, address_kind::loopback},
    {v4(169, 254, 0, 0), 16, address_kind::link_local},
    {v4(172, 16, 0, 0), 12, address_kind::private_use},
    {v4(192, 0, 0, 0), 24, address_kind::reserved},
    {v4(192, 0, 2, 0), 24, address_kind::reserved},
    {v4(192, 88, 99, 0), 24, address_kind::reserved},
    {v4(192, 168, 0, 0), 16, address_kind::private_use},
    {v4(198, 18, 0, 0), 15, address_kind::reserved},
    {v4(198, 51, 100, 0), 24, address_kind::reserved},
    {v4(203, 0, 113, 0), 24, address_kind::reserved},
    {v4(224, 0, 0, 0), 4, address_kind::multicast},
    {v4(240, 0, 0, 0), 4, address_kind::reserved},
};

struct v6_range {
  std::array<std::uint8_t, 16> base;
  int bits;
  address_kind kind;
};

constexpr v6_range v6_ranges[] = {
    {{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54},
     128,
     address_kind::metadata},
    {{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x23},
     128,
     address_kind::metadata},
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, address_kind::loopback},
    {{0xff}, 8, address_kind::multicast},
    {{0xfe, 0x80}, 10, address_kind::link_local},
    {{0xfe, 0xc0}, 10, address_kind::private_use},
    {{0xfc}, 7, address_kind::private_use},
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, address_kind::private_use},
    {{0x20, 0x01, 0x00, 0x00}, 23, address_kind::reserved}, // Teredo, ORCHID, benchmarking
    {{0x20, 0x01, 0x0d, 0xb8}, 32, address_kind::reserved},
    {{0x20, 0x02}, 16, address_kind::reserved}, // 6to4 leads to an IPv4 address of its choice
    {{0x3f, 0xff, 0x00}, 20, address_kind::reserved},
    {{0x20}, 3, address_kind::global},
};

constexpr std::array<std::uint8_t, 12> translated{0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};

bool within(const std::uint8_t* address, const std::uint8_t* base, int bits) {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (!std::equal(base, base + whole, address)) return false;
  const int rest = bits % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - rest));
  return (address[whole] & mask) == (base[whole] & mask);
}

address_kind classify_v4(const std::uint8_t* bytes) {
  const std::uint32_t bits = v4(bytes[0], bytes[1], bytes[2], bytes[3]);
  for (const auto& range : v4_ranges) {
    const std::uint32_t mask = ~std::uint32_t{0} << (32 - range.bits);
    if ((bits & mask) == range.base) return range.kind;
  }
  return address_kind::global;
}

} // namespace

std::string_view describe(address_kind kind) noexcept {
  switch (kind) {
  case address_kind::global: return "a public address";
  case address_kind::loopback: return "a loopback address";
  case address_kind::link_local: return "a link-local address";
  case address_kind::private_use: return "a private address";
  case address_kind::shared: return "an address of a carrier's inner network";
  case address_kind::multicast: return "a multicast address";
  case address_kind::metadata: return "the address of a machine's metadata service";
  case address_kind::reserved: return "a reserved address";
  }
  return "a reserved address";
}

address_kind classify(const ip_address& address) noexcept {
  const auto* bytes = address.bytes.data();
  if (!address.v6) return classify_v4(bytes);
  if (std::equal(translated.begin(), translated.end(), bytes)) return classify_v4(bytes + 12);
  for (const auto& range : v6_ranges)
    if (within(bytes, range.base.data(), range.bits)) return range.kind;
  return address_kind::reserved;
}

} // namespace gatehouse::policy
