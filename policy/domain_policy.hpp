#pragma once

#include "policy/domain_pattern.hpp"
#include "policy/rules/rule.hpp"
#include "protocol/ip_address.hpp"
#include "protocol/network.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy {

/// One decision about hosts, from `domains` or a network_rule.
struct domain_rule {
  domain_pattern pattern;
  decision verdict = decision::allow;
  /// Set for a network_rule, which is about one protocol; unset: about all.
  std::optional<network_protocol> protocol;
  std::string shown; ///< "domains `*.example.org` = allow (user …)": for people

  bool operator==(const domain_rule&) const = default;
};

/// What the managed network permits (§66, §143). A value.
struct domain_policy {
  std::vector<domain_rule> rules;
  /// Plain HTTP with methods that change nothing, and nothing else.
  bool limited = false;
  /// Commands may listen on the loopback of their own sandbox.
  bool local_binding = false;

  bool operator==(const domain_policy&) const = default;
};

/// `network_rule`s of rule files as domain rules.
std::vector<domain_rule> domain_rules_of(std::span<const network_rule> rules);

/// A connection as a program asks for it.
struct connection_wish {
  network_protocol protocol = network_protocol::https;
  std::string host; ///< as the program wrote it
  std::uint16_t port = 0;
  std::string method; ///< of a plain HTTP request, else empty
  /// Further names for the same server (the Host header), as written; each must agree.
  std::vector<std::string> also_named;
};

enum class host_verdict : std::uint8_t { allow, ask, deny };

struct host_decision {
  host_verdict verdict = host_verdict::deny;
  network_refusal reason = network_refusal::not_listed; ///< unless allow
  std::string host;   ///< canonical, see host_key; empty when malformed
  std::string rule;   ///< domain_rule::shown of the rule that decided
  std::string detail; ///< one sentence for people, where the reason says too little

  bool operator==(const host_decision&) const = default;
};

/// Decides about a host before anything is resolved (§143). Strictest first: a malformed host,
/// names that disagree, a denying rule, limited mode, a local address without a grant of its own;
/// then a prompting rule, an allowing rule; else `ask`. Only `ask` may be overridden by a person.
host_decision judge_host(const domain_policy& policy, const connection_wish& wish);

struct address_decision {
  std::vector<ip_address> allowed; ///< in the given order; only these may be dialled
  std::string refused;             ///< when none is allowed: why, as one sentence
  std::string rule;                ///< the denying rule, if one decided
};

/// Decides about what a name resolved to. Every address that is not public needs a rule that allows
/// that very address (or `localhost`) for this port: no name can lead there by itself, and what was
/// checked is what is dialled (DNS rebinding).
/// @param host canonical, of an allowed host_decision
address_decision judge_addresses(const domain_policy& policy, std::string_view host,
                                 std::uint16_t port, std::span<const ip_address> addresses);

/// True when a server name of TLS is the host that the connection was asked for.
/// @param host canonical
bool same_host(std::string_view host, std::string_view named);

} // namespace gatehouse::policy
