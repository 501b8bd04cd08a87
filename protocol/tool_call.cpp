#include "protocol/tool_call.hpp"

#include "protocol/shell_quote.hpp"

namespace gatehouse {

std::string_view to_string(sandbox_permissions p) noexcept {
  switch (p) {
  case sandbox_permissions::use_default: return "use_default";
  case sandbox_permissions::require_escalated: return "require_escalated";
  case sandbox_permissions::with_additional_permissions: return "with_additional_permissions";
  }
  return "use_default";
}

std::optional<sandbox_permissions> sandbox_permissions_from(std::string_view text) noexcept {
  for (auto p : {sandbox_permissions::use_default, sandbox_permissions::require_escalated,
                 sandbox_permissions::with_additional_permissions})
    if (text == to_string(p)) return p;
  return std::nullopt;
}

std::string describe(const proposal& what) {
  if (!what.patch) return shell_join(what.argv);
  return "apply a patch: " + describe(what.patch->changes);
}

} // namespace gatehouse
