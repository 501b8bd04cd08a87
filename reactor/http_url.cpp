#include "protocol/ip_address.hpp"
#include "reactor/http_client.hpp"

#include <algorithm>
#include <charconv>

namespace gatehouse::reactor {
namespace {

error wrong(std::string_view url, std::string_view what) {
  return {errc::invalid_request, "the URL `" + std::string{url} + "`: " + std::string{what},
          "Write https://host/path; http:// is for this machine only."};
}

bool is_this_machine(const std::string& host) {
  if (host == "localhost") return true;
  const auto address = parse_ip_address(host);
  if (!address) return false;
  if (!address->v6) return address->bytes[0] == 127;
  return to_string(*address) == "::1";
}

bool is_host_name(std::string_view host) {
  return !host.empty() && host.size() <= 253 && host.front() != '-' && host.front() != '.' &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_';
         });
}

} // namespace

result<http_target> parse_http_url(std::string_view url) {
  http_target to;
  auto rest = url;
  if (rest.starts_with("https://")) {
    to.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return wrong(url, "it begins with neither https:// nor http://");
  }
  for (const char c : rest)
    if (c <= ' ' || c == 0x7f || c == '#' || c == '\\' || c == '@')
      return wrong(url, "it holds a character that has no place here");
  const auto slash = std::min(rest.find_first_of("/?"), rest.size());
  to.path = rest.substr(slash);
  if (to.path.empty() || to.path.front() == '?') to.path.insert(0, "/");
  auto authority = rest.substr(0, slash);

  std::string_view port;
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return wrong(url, "the bracket is not closed");
    to.host = authority.substr(1, end - 1);
    authority.remove_prefix(end + 1);
    const auto address = parse_ip_address(to.host);
    if (!address || !address->v6) return wrong(url, "the brackets hold no IPv6 address");
    if (!authority.empty() && authority.front() != ':') return wrong(url, "text after the bracket");
    port = authority.empty() ? authority : authority.substr(1);
    if (!authority.empty() && port.empty()) return wrong(url, "the port is missing");
  } else {
    const auto colon = authority.find(':');
    to.host = authority.substr(0, colon);
    if (colon != std::string_view::npos) {
      port = authority.substr(colon + 1);
      if (port.empty()) return wrong(url, "the port is missing");
    }
    if (!is_host_name(to.host)) return wrong(url, "that is no host name");
  }
  to.port = to.tls ? 443 : 80;
  if (!port.empty()) {
    const auto read = std::from_chars(port.data(), port.data() + port.size(), to.port);
    if (read.ec != std::errc{} || read.ptr != port.data() + port.size() || to.port == 0)
      return wrong(url, "the port is no number from 1 to 65535");
  }
  if (!to.tls && !is_this_machine(to.host))
    return wrong(url, "plain HTTP to another machine could be read on the way");
  return to;
}

} // namespace gatehouse::reactor
