#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse {

/// How a program asks the managed proxy for a connection (§143). `https` is a CONNECT tunnel,
/// whatever its port.
enum class network_protocol : std::uint8_t { http, https, socks5_tcp, socks5_udp };
/// "http", "https", "socks5_tcp", "socks5_udp".
std::string_view to_string(network_protocol p) noexcept;

/// A host as a program named it and nobody could read it, for people, models and records: on one
/// line, nothing hidden in it, at most 255 bytes. A host name or an address stays what it is. Never
/// use it on something that is judged or dialled.
std::string shown_host(std::string_view named);

/// What a network decision is about (§109): equal keys are one question and one answer.
struct host_key {
  std::string environment_id;
  /// Lower-case A-labels, or an address in its shortest form, without brackets. In records of what
  /// was refused unread: shown_host.
  std::string host;
  network_protocol protocol = network_protocol::https;
  std::uint16_t port = 0;

  auto operator<=>(const host_key&) const = default;
};

/// "https://example.org:443", "socks5_tcp://[2001:db8::1]:22": for people and hooks (§113). Without
/// the port where it is 0, not known.
std::string to_string(const host_key& key);

/// Why the managed network refused a connection.
enum class network_refusal : std::uint8_t {
  not_listed,      ///< no rule allows the host, and nobody could be asked
  denied_by_rule,  ///< a rule denies it
  denied_by_user,  ///< whoever was asked said no
  local_address,   ///< loopback, private, link-local, …: needs a grant of its own
  malformed_host,  ///< no host name and no address in its one accepted spelling
  names_disagree,  ///< Host header or TLS server name differ from the host asked for
  method,          ///< limited mode: this method may change something
  tunnel,          ///< limited mode: methods inside a tunnel cannot be seen
  unattributed,    ///< the call it belongs to is over
  question_closed, ///< the question was withdrawn before it was answered
  malformed,       ///< the request breaks the rules of its protocol
  not_carried,     ///< the proxy does not serve this kind of request: SOCKS4, UDP, ftp:// …
};
/// "not_listed", "denied_by_rule", …
std::string_view to_string(network_refusal r) noexcept;

/// One connection that was refused, as an event for reports and audit (§143).
struct blocked_connection {
  std::string call_id;
  int attempt = 1;
  host_key target;
  std::string method; ///< of a plain HTTP request, else empty
  network_refusal reason = network_refusal::not_listed;
  std::string rule;   ///< the rule that decided, as people wrote it; empty: none
  std::string detail; ///< one sentence where there is more to say

  bool operator==(const blocked_connection&) const = default;
};

} // namespace gatehouse
