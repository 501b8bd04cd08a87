#include "policy/domain_pattern.hpp"

#include "policy/rules/network_host.hpp"
#include "protocol/ascii_text.hpp"

#include <charconv>

namespace gatehouse::policy {
namespace {

error wrong(std::string_view text, const std::string& what, std::string remedy) {
  return {errc::invalid_config, "the domain `" + std::string{text} + "` " + what,
          std::move(remedy)};
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (to_lower_ascii(text.substr(0, prefix.size())) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// `:443` as a port; false when it is none.
bool read_pattern_port(std::string_view text, std::uint16_t& port) {
  if (text.empty()) return true;
  if (text.front() != ':') return false;
  text.remove_prefix(1);
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
  return !text.empty() && text.front() != '+' && failed == std::errc{} &&
         end == text.data() + text.size() && port != 0;
}

bool is_loopback_name(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

} // namespace

result<domain_pattern> parse_domain_pattern(std::string_view text) {
  auto rest = text;
  std::uint16_t scheme_port = 0;
  if (take_prefix(rest, "https://"))
    scheme_port = 443;
  else if (take_prefix(rest, "http://"))
    scheme_port = 80;
  if (rest.find("://") != std::string_view::npos)
    return wrong(text, "has a scheme that the proxy does not know",
                 "Write the host alone, with `:port` to limit it to one port.");
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find('/') != std::string_view::npos)
    return wrong(text, "holds a path or an address range",
                 "Write the host alone: rules are about hosts and ports; list single addresses.");

  domain_pattern pattern;
  if (take_prefix(rest, "**."))
    pattern.match = domain_match::at_or_below;
  else if (take_prefix(rest, "*."))
    pattern.match = domain_match::below;
  else if (rest == "*" || rest.starts_with("*:")) {
    pattern.match = domain_match::any;
    pattern.port = scheme_port;
    if (!read_pattern_port(rest.substr(1), pattern.port))
      return wrong(text, "needs a port from 1 to 65535 after ':'", "Write `*` or `*:443`.");
    return pattern;
  }
  if (rest.find_first_of("*?{}") != std::string_view::npos)
    return wrong(text, "has a wildcard inside a name",
                 "Wildcards stand in front: `*.example.org` for all names below, `**.example.org` "
                 "for the domain too.");
  std::string why;
  auto parsed = parse_network_host(rest, why);
  if (!parsed)
    return wrong(text, why, "Write a host name, `*.name`, `**.name`, an address or `*`.");
  if (pattern.match != domain_match::exact &&
      (parsed->host.find(':') != std::string::npos ||
       (parsed->host.back() >= '0' && parsed->host.back() <= '9' &&
        parsed->host.find_first_not_of("0123456789.") == std::string::npos)))
    return wrong(text, "has a wildcard before an address", "List single addresses.");
  if (scheme_port != 0 && parsed->port == 0) parsed->port = scheme_port;
  pattern.host = std::move(parsed->host);
  pattern.port = parsed->port;
  return pattern;
}

bool matches(const domain_pattern& pattern, std::string_view host, std::uint16_t port) {
  if (pattern.port != 0 && pattern.port != port) return false;
  const bool is_below = host.size() > pattern.host.size() + 1 && host.ends_with(pattern.host) &&
                        host[host.size() - pattern.host.size() - 1] == '.';
  switch (pattern.match) {
  case domain_match::exact:
    return host == pattern.host || (pattern.host == "localhost" && is_loopback_name(host));
  case domain_match::below: return is_below;
  case domain_match::at_or_below: return is_below || host == pattern.host;
  case domain_match::any: return true;
  }
  return false;
}

} // namespace gatehouse::policy
