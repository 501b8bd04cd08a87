#pragma once

#include "policy/requirement.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gatehouse::tests {

/// A rule of one literal per token.
inline policy::prefix_rule make_rule(const std::vector<std::string>& pattern, decision verdict,
                                     std::string justification = {}) {
  policy::prefix_rule rule;
  for (const auto& token : pattern)
    rule.pattern.push_back({token});
  rule.decision = verdict;
  rule.justification = std::move(justification);
  rule.where = {"user.rules", 1, 1};
  return rule;
}

/// One sound user file with these rules.
inline policy::rule_set make_rules(std::vector<policy::prefix_rule> rules) {
  policy::rule_file file;
  file.file = "user.rules";
  file.rules = std::move(rules);
  std::vector<policy::rule_file> files;
  files.push_back(std::move(file));
  return policy::rule_set{std::move(files)};
}

/// A host on which every bare word is a system program, an absolute path is one when it is below
/// `/bin/` or `/usr/bin/`, and a relative path leads into the writable workspace `/ws`.
inline policy::program_facts ordinary_host(const std::vector<std::string>& words) {
  policy::program_facts facts;
  for (const auto& word : words) {
    const bool bare = word.find('/') == std::string::npos;
    const bool relative = !bare && !word.starts_with('/');
    const auto path = bare ? "/usr/bin/" + word : relative ? "/ws/" + word : word;
    const bool system = path.starts_with("/bin/") || path.starts_with("/usr/bin/");
    facts[word] = {path, path, relative, system};
  }
  return facts;
}

/// A script for the user's bash in a workspace-write session.
inline policy::exec_request script_request(std::string script,
                                           approval_mode mode = approval_mode::on_request) {
  policy::exec_request request;
  request.argv = {"/bin/bash", "-lc", std::move(script)};
  request.approval.mode = mode;
  request.profile = workspace_write_profile();
  return request;
}

/// Analyses and evaluates on an ordinary host.
inline exec_evaluation judge(const policy::exec_request& request, const policy::rule_set& rules) {
  const auto analysis = policy::analyze_command(request.argv);
  return policy::evaluate(request, analysis, rules,
                          ordinary_host(policy::program_words(request.argv, analysis, rules)));
}

} // namespace gatehouse::tests
