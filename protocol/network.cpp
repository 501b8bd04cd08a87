#include "protocol/network.hpp"

#include "protocol/visible_text.hpp"

namespace gatehouse {

std::string_view to_string(network_protocol p) noexcept {
  switch (p) {
  case network_protocol::http: return "http";
  case network_protocol::https: return "https";
  case network_protocol::socks5_tcp: return "socks5_tcp";
  case network_protocol::socks5_udp: return "socks5_udp";
  }
  return "https";
}

std::string shown_host(std::string_view named) {
  constexpr std::size_t longest = 255; // as host names have it
  return visible_line(named, longest);
}

std::string to_string(const host_key& key) {
  const bool v6 = key.host.find(':') != std::string::npos;
  return std::string{to_string(key.protocol)} + "://" + (v6 ? "[" + key.host + "]" : key.host) +
         (key.port == 0 ? "" : ":" + std::to_string(key.port));
}

std::string_view to_string(network_refusal r) noexcept {
  switch (r) {
  case network_refusal::not_listed: return "not_listed";
  case network_refusal::denied_by_rule: return "denied_by_rule";
  case network_refusal::denied_by_user: return "denied_by_user";
  case network_refusal::local_address: return "local_address";
  case network_refusal::malformed_host: return "malformed_host";
  case network_refusal::malformed: return "malformed";
  case network_refusal::not_carried: return "not_carried";
  case network_refusal::names_disagree: return "names_disagree";
  case network_refusal::method: return "method";
  case network_refusal::tunnel: return "tunnel";
  case network_refusal::unattributed: return "unattributed";
  case network_refusal::question_closed: return "question_closed";
  }
  return "not_listed";
}

} // namespace gatehouse
