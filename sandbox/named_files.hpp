#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// The existing files that the words of a shell command name by a path, relative ones below `cwd`:
/// the script of a hook, wherever it stands in the line. Quotes and operators only part words, so
/// that a name that holds blanks is missed.
std::vector<std::string> files_named_in(std::string_view text, const std::string& cwd,
                                        const std::string& user_home);

} // namespace gatehouse::sandbox
