#pragma once

#include "policy/rules/rule_set.hpp"
#include "policy/shell/segments.hpp"
#include "protocol/approval_policy.hpp"
#include "protocol/exec_policy.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/tool_call.hpp"

#include <span>
#include <string>
#include <vector>

namespace gatehouse::policy {

/// Everything exec policy looks at besides rules and facts (§17).
struct exec_request {
  std::vector<std::string> argv;
  approval_policy approval;
  permission_profile profile;
  gatehouse::sandbox_permissions sandbox_permissions = gatehouse::sandbox_permissions::use_default;
  /// The overlay lies wholly inside a sticky grant: pre-approved for permissions (§15).
  bool permissions_preapproved = false;
  std::vector<std::string> prefix_rule; ///< the model's suggestion (§40)
  bool is_session = false; ///< write_stdin may give it more input later, which no rule sees (§126)
};

/// The program words whose facts `evaluate` wants, each once: the program of `argv` itself, the
/// first word of every segment, files that run as programs, and the paths that rules restrict. A
/// word without a fact is not trusted.
std::vector<std::string> program_words(std::span<const std::string> argv,
                                       const command_analysis& analysis, const rule_set& rules);

/// Judges a command: handler refusals (§D19), segments, rules, safe and danger lists, approval
/// policy, reasons and amendment (§26–§41, §129). Pure.
/// @param analysis of `request.argv`
/// @param facts of program_words(request.argv, analysis, rules)
exec_evaluation evaluate(const exec_request& request, const command_analysis& analysis,
                         const rule_set& rules, const program_facts& facts);

} // namespace gatehouse::policy
