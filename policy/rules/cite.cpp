#include "policy/rules/rule_set.hpp"

#include <algorithm>

namespace gatehouse::policy {

decision strictest(std::span<const rule_match> matches) noexcept {
  auto result = decision::allow;
  for (const auto& m : matches)
    result = std::max(result, m.rule->decision);
  return result;
}

rule_citation cite(const prefix_rule& rule) {
  return {rule.pattern, rule.where.file, rule.where.line, rule.justification};
}

} // namespace gatehouse::policy
