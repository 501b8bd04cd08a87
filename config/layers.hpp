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

} // namespace gatehouse::config
