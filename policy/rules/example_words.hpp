#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy {

/// The words of an example string, split as a POSIX shell would split plain text: quotes,
/// backslashes and comments count, variables and operators do not. Nothing: an open quote or a
/// backslash at the end.
std::optional<std::vector<std::string>> split_example(std::string_view text);

} // namespace gatehouse::policy
