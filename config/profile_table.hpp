#pragma once

#include "config/toml_reader.hpp"

#include <optional>
#include <vector>

namespace gatehouse::config {

/// Reads the `[permissions]` table: every named profile as it is written. What is wrong stands in
/// the reader.
std::vector<profile_definition> read_profiles(toml_reader& reader, const toml_table& permissions);

/// Reads the path of a deny entry of requirements: absolute or `~/…`, literal or glob.
std::optional<profile_path> read_denied_path(toml_reader& reader, const toml_value& where,
                                             const std::string& key);

} // namespace gatehouse::config
