#pragma once

#include "config/locations.hpp"
#include "config/settings.hpp"
#include "config/trust.hpp"
#include "protocol/result.hpp"

#include <string>
#include <vector>

namespace gatehouse::config {

struct loaded_settings {
  effective_settings settings;
  config::project project;
  /// For stderr: unknown keys, an untrusted project layer that was left out, settings of a project
  /// that would loosen, values that requirements replaced.
  std::vector<std::string> warnings;
};

/// Reads and merges every layer (§43): built-in < system < user < project (only when trusted, only
/// tighter) < command line; then requirements tighten the result. A file that cannot be read or
/// does not parse is an error; a missing one is not.
result<loaded_settings> load_settings(const locations& where, const std::string& cwd,
                                      const settings_layer& command_line = {});

/// Puts `required` in the place of the requirements in force and tightens the settings by them.
void apply_requirements(effective_settings& settings, requirements required,
                        const std::string& project_root, const std::string& user_home,
                        std::vector<std::string>& warnings);

/// The policy itself where requirements allow it, else the one that takes its place.
setting<approval_policy> constrain_approval(const effective_settings& settings,
                                            const setting<approval_policy>& wanted);

} // namespace gatehouse::config
