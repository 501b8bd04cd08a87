#pragma once

#include "config/settings.hpp"
#include "protocol/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::config {

struct settings_file {
  settings_layer settings;
  std::vector<std::string> warnings; ///< "file:line:col: …": unknown keys, useless entries
};

/// Reads the text of one config.toml. Wrong types and bad values are errors with file:line:col;
/// unknown keys are warnings.
result<settings_file> read_settings(std::string_view text, const std::string& file, layer from,
                                    const std::string& user_home);

struct requirements_file {
  requirements required;
  std::vector<std::string> warnings;
};

/// Reads the text of a requirements.toml (§43). A key that is not understood is an error here: a
/// demand must not be dropped in silence. Inside a rule entry unknown keys are warnings.
result<requirements_file> read_requirements(std::string_view text, const std::string& file,
                                            const std::string& user_home);

} // namespace gatehouse::config
