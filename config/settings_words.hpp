#pragma once

#include "config/toml_reader.hpp"

#include <optional>
#include <vector>

namespace gatehouse::config {

// Values that config.toml and requirements.toml share. What is wrong stands in the reader.

std::optional<setting<approval_policy>> read_approval_policy(toml_reader& reader,
                                                             const toml_value& value);
/// `default_sandbox` of a [rules] table.
std::optional<setting<policy::rule_sandbox>> read_rule_sandbox(toml_reader& reader,
                                                               const toml_table& rules);
/// `backend` of a [sandbox] table: "platform" (none), or the name of a backend.
std::optional<setting<sandbox_backend>> read_backend(toml_reader& reader,
                                                     const toml_table& sandbox);
std::vector<setting<std::string>> read_protected_names(toml_reader& reader,
                                                       const toml_table& table);

} // namespace gatehouse::config
