#include "protocol/approval_policy.hpp"

#include <utility>

namespace gatehouse {

std::string_view to_string(approval_mode m) noexcept {
  switch (m) {
  case approval_mode::untrusted: return "untrusted";
  case approval_mode::on_request: return "on-request";
  case approval_mode::granular: return "granular";
  case approval_mode::never: return "never";
  }
  return "never";
}

std::optional<approval_policy> approval_policy_from(std::string_view name) noexcept {
  if (name == "untrusted" || name == "unless-trusted")
    return approval_policy{approval_mode::untrusted, {}};
  if (name == "on-request" || name == "on-failure")
    return approval_policy{approval_mode::on_request, {}};
  if (name == "never") return approval_policy{approval_mode::never, {}};
  return std::nullopt;
}

std::string describe(const approval_policy& policy) {
  std::string text{to_string(policy.mode)};
  if (policy.mode != approval_mode::granular) return text;
  const auto& on = policy.granular;
  std::string switches;
  for (const auto& [name, is_on] :
       {std::pair{"sandbox_approval", on.sandbox_approval}, std::pair{"rules", on.rules},
        std::pair{"skill_approval", on.skill_approval},
        std::pair{"request_permissions", on.request_permissions},
        std::pair{"mcp_elicitations", on.mcp_elicitations}})
    if (is_on) switches += (switches.empty() ? "" : ", ") + std::string{name};
  return text + " (" + (switches.empty() ? "no questions" : switches) + ")";
}

} // namespace gatehouse
