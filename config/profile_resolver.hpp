#pragma once

#include "config/settings.hpp"
#include "protocol/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::config {

struct resolved_profile {
  std::string name;           ///< built-in profiles by their first spelling ("read-only")
  permission_profile profile; ///< requirements are applied
  /// Set: whenever this profile's network is on, it is the managed one with this policy (§66).
  std::optional<policy::domain_policy> network;
  /// The roots given, then the profile's own `workspace_roots`; absolute.
  std::vector<std::string> project_roots;
  origin from;
};

/// The profile called `name`: built-in or configured, `extends` followed. Errors: unknown name,
/// cycle, a project's profile that grants more than the settings below the project, a profile that
/// requirements do not allow.
/// @pre `project_roots` holds at least one absolute path.
result<resolved_profile> resolve_profile(const effective_settings& settings, std::string_view name,
                                         const std::vector<std::string>& project_roots,
                                         const std::string& user_home);

/// Applies requirements to a profile that was given as a value, not by name.
result<permission_profile> constrain_profile(const effective_settings& settings,
                                             permission_profile profile);

/// `profile` with these reads denied: what was unrestricted keeps everything else and becomes
/// managed; narrower grants below a denied path go. Error: an external profile cannot be told.
result<permission_profile> deny_reads(permission_profile profile,
                                      const std::vector<setting<profile_entry>>& denied);

/// "workspace-write" for ":workspace", and so on; other names as they are.
std::string canonical_profile_name(std::string_view name);

} // namespace gatehouse::config
