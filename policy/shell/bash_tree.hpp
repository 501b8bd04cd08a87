#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy::shell {

/// The commands of `script` when its syntax tree holds nothing but plain commands, joined by
/// `&&`, `||`, `|`, `;` and newlines. `script` must be smaller than 4 GiB.
std::optional<std::vector<std::vector<std::string>>> tree_commands(std::string_view script);

} // namespace gatehouse::policy::shell
