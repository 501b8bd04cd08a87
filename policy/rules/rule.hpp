#pragma once

#include "protocol/exec_policy.hpp"
#include "protocol/network.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gatehouse::policy {

/// Where something stands in a rule file; line and column are 1-based, columns count characters.
struct source_position {
  std::string file;
  int line = 0;
  int column = 0;

  bool operator==(const source_position&) const = default;
};

/// Which layer a rule came from, lowest first (§43). Later layers can only tighten gates (§D18).
enum class rule_layer : std::uint8_t { system, user, project, command_line, requirements };

/// Whether an allow also lifts the sandbox (§36, §D4).
enum class rule_sandbox : std::uint8_t { bypass, keep };

/// `prefix_rule(…)` after its head alternatives are expanded: one rule per first token (§21, §22).
struct prefix_rule {
  std::vector<std::vector<std::string>> pattern; ///< alternatives per token; never empty
  gatehouse::decision decision = gatehouse::decision::allow;
  std::string justification; ///< empty: none
  bool canonical = false;    ///< Unicode canonical caseless matching
  bool exact = false;        ///< the whole command, not a prefix
  rule_sandbox sandbox = rule_sandbox::bypass;
  bool says_sandbox = false; ///< `sandbox` stands in the rule itself, it is not the default
  rule_layer layer = rule_layer::user;
  source_position where;
};

/// `host_executable(name, paths)`: the only paths where basename rules for `name` apply (§23).
struct host_gate {
  std::string name;
  std::vector<std::string> paths; ///< absolute, lexically normal; empty: no path is good
  rule_layer layer = rule_layer::user;
  source_position where;
};

/// `network_rule(host, protocol, decision)` (§113, §D15).
struct network_rule {
  std::string host;       ///< as parse_network_host gives it: lower-case A-labels, or an address
  std::uint16_t port = 0; ///< 0: every port
  network_protocol protocol = network_protocol::https;
  gatehouse::decision decision = gatehouse::decision::prompt;
  std::string justification;
  rule_layer layer = rule_layer::user;
  source_position where;
};

} // namespace gatehouse::policy
