#pragma once

#include "cli/option_reader.hpp"
#include "config/layers.hpp"
#include "policy/access.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gatehouse::cli {

/// The configuration as the options of one command see it.
struct start_point {
  config::locations where;
  std::string cwd; ///< absolute, exists: `--cwd`, else the process's
  config::loaded_settings loaded;
  config::settings_layer command_line; ///< of which `loaded` is the topmost layer
  /// `--profile` given as a JSON object; a name stands in the settings (§43).
  std::optional<permission_profile> given_profile;
};

/// What one start wishes for, above every layer of the configuration; unset: as configured.
struct start_wishes {
  std::string cwd;                    ///< absolute; empty: the process's
  std::optional<std::string> ask;     ///< approval policy, name or JSON
  std::optional<std::string> profile; ///< name or JSON object
  std::optional<std::string> backend; ///< "platform", or the name of one
};
result<start_point> load_for(const start_wishes& wishes);

/// Loads every layer with `--cwd`, `--ask`, `--backend` and `--profile` as the command-line layer.
/// Warnings stay in `loaded`.
result<start_point> load_for(const options& given);

/// A profile as one command runs under it, requirements applied.
struct chosen_profile {
  permission_profile profile;
  std::optional<policy::domain_policy> network; ///< see config::resolved_profile
  std::vector<std::string> project_roots;       ///< `cwd`, then the profile's own roots
};
/// The default profile, or the one that `--profile` gave.
result<chosen_profile> choose_profile(const start_point& start);

/// The backend that the settings ask for, or else the platform's (§68). An error when this platform
/// does not have it.
result<sandbox_backend> chosen_backend(const config::effective_settings& settings);

/// What the profile's symbolic paths and protections mean for a command in `cwd`: the names of the
/// configuration, this program's own folders and the programs that guard are protected (§63, §D14).
/// Errors as guard_programs().
result<policy::access_context> access_context_of(const config::effective_settings& settings,
                                                 const config::locations& where,
                                                 const std::string& cwd,
                                                 std::vector<std::string> project_roots);

} // namespace gatehouse::cli
