#pragma once

#include "policy/rules/rule.hpp"
#include "policy/rules/rule_index.hpp"
#include "policy/starlark/value.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

// What the calls of a rule file mean: arguments in, a typed rule or one sentence about what is
// wrong out. Layer and place of the rules are the caller's to fill in.
namespace gatehouse::policy {

/// A value, or what is wrong with the call.
template <class T>
using call_result = std::variant<T, std::string>;

/// `prefix_rule(…)` with its head alternatives still together.
struct prefix_call {
  token_pattern pattern;
  gatehouse::decision decision = gatehouse::decision::allow;
  std::string justification;
  bool canonical = false;
  bool exact = false;
  std::optional<rule_sandbox> sandbox; ///< nothing: not said
  std::vector<std::vector<std::string>> match;
  std::vector<std::vector<std::string>> not_match;
};

/// Checks in this order: decision, justification, pattern, match, not_match, the rest.
call_result<prefix_call> read_prefix_call(const starlark::call_arguments& arguments);

/// The restriction that a wrong `prefix_rule` call was surely meant to make (§D7): its pattern can
/// be read, and its decision is a restrictive one, or none that can be read (then it asks).
std::optional<prefix_call> salvage_prefix_call(const starlark::call_arguments& arguments);

call_result<host_gate> read_host_executable_call(const starlark::call_arguments& arguments);

call_result<network_rule> read_network_call(const starlark::call_arguments& arguments);

} // namespace gatehouse::policy
