#include "policy/domain_policy.hpp"

#include "policy/address_kind.hpp"
#include "policy/rules/network_host.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

bool is_tunnel(network_protocol p) {
  return p != network_protocol::http;
}

/// Names that metadata services answer to, whatever they resolve to.
bool is_metadata_name(std::string_view host) {
  return host == "metadata.google.internal" || host == "metadata" || host == "instance-data" ||
         host == "metadata.azure.internal" || host == "metadata.packet.net";
}

/// An allow is about its own protocol only. A denial also covers the other ways to carry the same
/// thing: both tunnels are alike, and either can carry plain HTTP to its port.
bool covers_protocol(const domain_rule& rule, network_protocol protocol, std::uint16_t port) {
  if (!rule.protocol || *rule.protocol == protocol) return true;
  if (rule.verdict == decision::allow) return false;
  if (is_tunnel(*rule.protocol)) return is_tunnel(protocol);
  return port == (rule.pattern.port != 0 ? rule.pattern.port : 80);
}

const domain_rule* find_rule(const domain_policy& policy, decision verdict,
                             network_protocol protocol, std::string_view host, std::uint16_t port) {
  for (const auto& rule : policy.rules)
    if (rule.verdict == verdict && matches(rule.pattern, host, port) &&
        covers_protocol(rule, protocol, port))
      return &rule;
  return nullptr;
}

bool has_own_rule(const domain_policy& policy, decision verdict, const std::string& host,
                  std::uint16_t port) {
  return std::ranges::any_of(policy.rules, [&](const domain_rule& rule) {
    return rule.verdict == verdict && rule.pattern.match == domain_match::exact &&
           matches(rule.pattern, host, port);
  });
}

/// A rule that names an address of the inner network itself, and opens it or asks about it.
bool granted_by_itself(const domain_policy& policy, const std::string& host, std::uint16_t port) {
  return has_own_rule(policy, decision::allow, host, port) ||
         has_own_rule(policy, decision::prompt, host, port);
}

/// All of 127.0.0.0/8 is the same machine: what is denied for localhost is denied for all of it.
const domain_rule* find_domain_denial(const domain_policy& policy, network_protocol protocol,
                                      const std::string& host, std::uint16_t port,
                                      const std::optional<ip_address>& address) {
  if (const auto* rule = find_rule(policy, decision::forbidden, protocol, host, port)) return rule;
  if (address && classify(*address) == address_kind::loopback)
    return find_rule(policy, decision::forbidden, protocol, "localhost", port);
  return nullptr;
}

std::string local_grant(const std::string& host, std::uint16_t port) {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return "It needs a rule of its own: `" + name + ":" + std::to_string(port) +
         "` = \"allow\" in the profile's network.domains.";
}

host_decision refuse_host(network_refusal reason, std::string host, std::string detail,
                          std::string rule = {}) {
  return {host_verdict::deny, reason, std::move(host), std::move(rule), std::move(detail)};
}

bool harmless(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

} // namespace

std::vector<domain_rule> domain_rules_of(std::span<const network_rule> rules) {
  std::vector<domain_rule> out;
  out.reserve(rules.size());
  for (const auto& rule : rules) {
    domain_rule made;
    made.pattern = {domain_match::exact, rule.host, rule.port};
    made.verdict = rule.decision;
    made.protocol = rule.protocol;
    made.shown = "network_rule " + rule.host +
                 (rule.port != 0 ? ":" + std::to_string(rule.port) : std::string{}) + " (" +
                 rule.where.file + ":" + std::to_string(rule.where.line) + ")";
    if (!rule.justification.empty()) made.shown += ": " + rule.justification;
    out.push_back(std::move(made));
  }
  return out;
}

bool same_host(std::string_view host, std::string_view named) {
  std::string why;
  const auto parsed =
      parse_network_host(named.find(':') != std::string_view::npos ? "[" + std::string{named} + "]"
                                                                   : std::string{named},
                         why);
  return parsed && parsed->port == 0 && parsed->host == host;
}

host_decision judge_host(const domain_policy& policy, const connection_wish& wish) {
  // A port inside the host would be another one than the proxy dials.
  std::string why;
  const bool bare_v6 = wish.host.find(':') != std::string::npos;
  const auto parsed = parse_network_host(bare_v6 ? "[" + wish.host + "]" : wish.host, why);
  if (!parsed || parsed->port != 0 || wish.port == 0)
    return refuse_host(network_refusal::malformed_host, {},
                       "The host " + (why.empty() ? std::string{"has no usable port"} : why) +
                           "; write a host name, or an address as dotted decimal or IPv6.");
  const std::string& host = parsed->host;
  for (const auto& named : wish.also_named) {
    const auto other = parse_network_host(named, why);
    const std::uint16_t port = other && other->port != 0 ? other->port : wish.port;
    if (!other || other->host != host || port != wish.port)
      return refuse_host(network_refusal::names_disagree, host,
                         "The Host header names another server than the request line.");
  }

  const auto address = parse_ip_address(host);
  if (const auto* rule = find_domain_denial(policy, wish.protocol, host, wish.port, address))
    return refuse_host(network_refusal::denied_by_rule, host, {}, rule->shown);
  if (wish.protocol == network_protocol::socks5_udp)
    return refuse_host(network_refusal::tunnel, host, "UDP is not carried.");
  if (policy.limited) {
    if (is_tunnel(wish.protocol))
      return refuse_host(
          network_refusal::tunnel, host,
          "In limited mode only plain HTTP passes, since methods inside a tunnel cannot "
          "be seen.");
    if (!harmless(wish.method))
      return refuse_host(network_refusal::method, host,
                         "In limited mode only GET, HEAD and OPTIONS pass.");
  }
  if (is_metadata_name(host) && !granted_by_itself(policy, host, wish.port))
    return refuse_host(network_refusal::local_address, host,
                       "It is the name of a machine's metadata service. " +
                           local_grant(host, wish.port));
  if (host == "localhost" && !granted_by_itself(policy, host, wish.port))
    return refuse_host(network_refusal::local_address, host,
                       "It is this machine itself. " + local_grant(host, wish.port));
  if (address)
    if (const auto kind = classify(*address);
        kind != address_kind::global && !granted_by_itself(policy, host, wish.port))
      return refuse_host(network_refusal::local_address, host,
                         "It is " + std::string{describe(kind)} + ". " +
                             local_grant(host, wish.port));

  if (const auto* rule = find_rule(policy, decision::prompt, wish.protocol, host, wish.port))
    return {host_verdict::ask, network_refusal::not_listed, host, rule->shown, {}};
  if (const auto* rule = find_rule(policy, decision::allow, wish.protocol, host, wish.port))
    return {host_verdict::allow, network_refusal::not_listed, host, rule->shown, {}};
  return {host_verdict::ask, network_refusal::not_listed, host, {}, {}};
}

address_decision judge_addresses(const domain_policy& policy, std::string_view host,
                                 std::uint16_t port, std::span<const ip_address> addresses) {
  address_decision out;
  const bool is_literal = parse_ip_address(host).has_value();
  for (const auto& address : addresses) {
    const std::string text = to_string(address);
    // Which protocol carries it was judged with the name.
    const domain_rule* denial = nullptr;
    if (!is_literal)
      for (const auto protocol : {network_protocol::https, network_protocol::http})
        if (const auto* rule = find_domain_denial(policy, protocol, text, port, address))
          if (rule->pattern.match == domain_match::exact) denial = rule;
    if (denial) {
      out.refused = "It leads to " + text + ", which is denied.";
      out.rule = denial->shown;
      continue;
    }
    const auto kind = classify(address);
    // A yes to a question covers the address that was asked about, and no name that leads there.
    if (kind == address_kind::global || has_own_rule(policy, decision::allow, text, port) ||
        ((is_literal || host == "localhost") &&
         has_own_rule(policy, decision::prompt, text, port))) {
      out.allowed.push_back(address);
      continue;
    }
    out.refused = "It leads to " + text + ", which is " + std::string{describe(kind)} + ". " +
                  local_grant(text, port);
  }
  if (!out.allowed.empty()) {
    out.refused.clear();
    out.rule.clear();
  } else if (out.refused.empty()) {
    out.refused = "The name has no address.";
  }
  return out;
}

} // namespace gatehouse::policy
