#include "protocol/base64.hpp"
#include "reactor/websocket_server.hpp"

#include <algorithm>

namespace gatehouse::reactor {
namespace {

constexpr unsigned unauthorized = 401;
constexpr unsigned forbidden = 403;
constexpr std::string_view bearer = "Bearer ";
constexpr std::string_view token_protocol = "gatehouse.token.";

/// Takes the same time wherever the texts differ.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

std::string base64url(std::string_view bytes) {
  auto text = encode_base64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.erase(text.find_last_not_of('=') + 1);
  return text;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

bool knows_token(const websocket_admission& request, const std::string& token) {
  const std::string_view header = request.authorization;
  if (header.size() > bearer.size() && header.starts_with(bearer) &&
      same(header.substr(bearer.size()), token))
    return true;
  const auto wanted = base64url(token);
  for (std::string_view left = request.protocols; !left.empty();) {
    const auto comma = std::min(left.find(','), left.size());
    const auto one = trimmed(left.substr(0, comma));
    if (one.starts_with(token_protocol) && same(one.substr(token_protocol.size()), wanted))
      return true;
    left.remove_prefix(std::min(comma + 1, left.size()));
  }
  return false;
}

bool is_loopback_name(std::string_view host, std::uint16_t port) {
  const auto number = ":" + std::to_string(port);
  for (const std::string_view name : {"127.0.0.1", "[::1]", "localhost"})
    if (host.size() == name.size() + number.size() && host.starts_with(name) &&
        host.ends_with(number))
      return true;
  return false;
}

} // namespace

unsigned admit_websocket(const websocket_admission& request, const websocket_terms& terms,
                         std::uint16_t port) {
  for (const auto& origin : request.origins)
    if (std::find(terms.origins.begin(), terms.origins.end(), origin) == terms.origins.end())
      return forbidden;
  if (request.origins.size() > 1) return forbidden;
  const bool loopback = terms.address == "127.0.0.1" || terms.address == "::1";
  if (terms.unix_path.empty() && loopback && !is_loopback_name(request.host, port))
    return forbidden;
  if (!terms.token.empty() && !knows_token(request, terms.token)) return unauthorized;
  return 0;
}

} // namespace gatehouse::reactor
