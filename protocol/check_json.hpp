#pragma once

#include "protocol/exec_policy.hpp"

#include <span>
#include <string>
#include <vector>

namespace gatehouse {

/// One rule that matches, as `policy check` prints it (§133).
struct checked_match {
  std::vector<std::string> matched_prefix;
  gatehouse::decision decision = gatehouse::decision::allow;
  std::string resolved_program; ///< empty: left out
  std::string justification;    ///< empty: left out
};

/// `{"matchedRules":[{"prefixRuleMatch":{…}}],"decision":…}` and a newline; `decision`, the
/// strictest, is left out when nothing matched. Compact, or indented by two spaces.
std::string encode_check(std::span<const checked_match> matches, bool pretty);

} // namespace gatehouse
