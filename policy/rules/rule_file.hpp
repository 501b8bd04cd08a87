#pragma once

#include "policy/rules/rule.hpp"
#include "protocol/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy {

/// One thing wrong with a rule file: where, what, and the source line with a caret for people.
struct rule_problem {
  source_position where;
  std::string message; ///< one sentence
  std::string excerpt; ///< the source line and a caret line; may be empty
};

/// What one rule file says. When `problems` is not empty the file is broken: its allows must not be
/// honoured, while every restriction that could be read stays in force (§44, §D7). A file of which
/// nothing could be read has `unreadable` set: unmatched commands must then prompt.
struct rule_file {
  std::string file;
  rule_layer layer = rule_layer::user;
  /// What relative paths in prompt and forbidden rules are relative to, besides the folder that the
  /// command runs in; absolute.
  std::string cwd = "/";
  std::vector<prefix_rule> rules; ///< in call order
  std::vector<host_gate> gates;   ///< in call order
  std::vector<network_rule> network;
  std::vector<rule_problem> problems;
  bool unreadable = false;
};

/// Bytes of the longest rule file that is read: room for 100,000 rules.
constexpr std::size_t largest_rule_file = std::size_t{8} << 20;

struct rule_file_options {
  rule_layer layer = rule_layer::user;
  /// Default of `prefix_rule(sandbox=…)`: a configuration switch makes `keep` the default (§D4).
  rule_sandbox default_sandbox = rule_sandbox::bypass;
  /// Gates of files read earlier, for checking `match` examples.
  std::vector<host_gate> earlier_gates;
  /// Where relative programs (`./git`) in rules and examples lead from.
  std::string cwd = "/";
  /// Where `~/…` in examples leads; empty: nowhere.
  std::string home;
};

/// Evaluates one rule file (§21–§23) and checks its examples. Never fails: what is wrong stands in
/// `problems`, in source order. Bounded in steps, memory and depth.
rule_file read_rule_file(std::string_view text, std::string file_name, const rule_file_options&);

} // namespace gatehouse::policy
