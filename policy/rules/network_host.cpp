#include "policy/rules/network_host.hpp"

#include "protocol/ascii_text.hpp"
#include "protocol/ip_address.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>

#include <idn2.h>

namespace gatehouse::policy {
namespace {

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_decimal);
}

std::optional<std::uint16_t> read_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (!all_digits(text) || failed != std::errc{} || end != text.data() + text.size() || port == 0)
    return std::nullopt;
  return port;
}

std::optional<std::string> canonical_address(bool v6, std::string_view text) {
  if ((text.find(':') != std::string_view::npos) != v6) return std::nullopt;
  const auto address = parse_ip_address(text);
  if (!address) return std::nullopt;
  return to_string(*address);
}

/// The last label decides: a name whose last label is a number is an address to some resolvers.
bool looks_numeric(std::string_view host) {
  const auto label = host.substr(host.rfind('.') + 1);
  return all_digits(label) || label.starts_with("0x");
}

/// IDNA's own limits on hyphens are for new names; names in use break them, so that ASCII names are
/// only lower-cased.
std::optional<std::string> a_labels(std::string_view host, std::string& why) {
  if (std::ranges::all_of(host, [](unsigned char c) { return c < 0x80; }))
    return to_lower_ascii(host);
  char* raw = nullptr;
  const int failed =
      idn2_to_ascii_8z(std::string{host}.c_str(), &raw, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
  const std::unique_ptr<char, decltype(&std::free)> owned{raw, &std::free};
  if (failed == IDN2_OK) return std::string{raw};
  why = "is not a host name: " + std::string{idn2_strerror(failed)};
  return std::nullopt;
}

/// What is wrong with the labels of a name; empty when nothing is.
std::string_view wrong_labels(std::string_view name) {
  const auto allowed = [](char c) {
    return is_decimal(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.';
  };
  if (!std::ranges::all_of(name, allowed)) return "has a character that no host name has";
  if (name.size() > 253) return "is longer than 253 characters";
  while (true) {
    const auto dot = std::min(name.find('.'), name.size());
    if (dot == 0) return "has an empty label";
    if (dot > 63) return "has a label of more than 63 characters";
    if (dot == name.size()) return {};
    name.remove_prefix(dot + 1);
  }
}

} // namespace

std::optional<network_host> parse_network_host(std::string_view text, std::string& why) {
  const auto refuse = [&](std::string reason) {
    why = std::move(reason);
    return std::nullopt;
  };
  auto host = trimmed(text, " \t\r\n\v\f");
  if (host.empty()) return refuse("is empty");
  if (host.find('\0') != std::string_view::npos) return refuse("has a NUL byte");
  if (host.find_first_of("/?#@\\") != std::string_view::npos)
    return refuse("must be a host, not a URL");
  if (host.find('*') != std::string_view::npos) return refuse("must name one host: no wildcards");

  network_host parsed;
  const auto take_port = [&](std::string_view digits) {
    const auto port = read_port(digits);
    if (port) parsed.port = *port;
    return port.has_value();
  };

  if (host.front() == '[') {
    const auto close = host.find(']');
    if (close == std::string_view::npos) return refuse("has no closing ']'");
    const auto rest = host.substr(close + 1);
    if (!rest.empty() && (rest.front() != ':' || !take_port(rest.substr(1))))
      return refuse("may have only ':' and a port from 1 to 65535 after ']'");
    const auto address = canonical_address(true, host.substr(1, close - 1));
    if (!address) return refuse("has no IPv6 address between its brackets");
    parsed.host = *address;
    return parsed;
  }
  if (std::ranges::count(host, ':') > 1) {
    const auto address = canonical_address(true, host);
    if (!address) return refuse("is neither a host with a port nor an IPv6 address");
    parsed.host = *address;
    return parsed;
  }
  if (const auto colon = host.find(':'); colon != std::string_view::npos) {
    if (!take_port(host.substr(colon + 1))) return refuse("needs a port from 1 to 65535 after ':'");
    host = host.substr(0, colon);
  }
  while (host.ends_with('.'))
    host.remove_suffix(1);
  if (host.empty()) return refuse("has no host name");

  auto name = a_labels(host, why);
  if (!name) return std::nullopt;
  if (const auto wrong = wrong_labels(*name); !wrong.empty()) return refuse(std::string{wrong});
  parsed.host = std::move(*name);
  if (looks_numeric(parsed.host)) {
    const auto address = canonical_address(false, parsed.host);
    if (!address) return refuse("ends in a number but is not a dotted IPv4 address");
    parsed.host = *address;
  }
  return parsed;
}

} // namespace gatehouse::policy
