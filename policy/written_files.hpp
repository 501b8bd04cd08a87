#pragma once

#include "policy/shell/segments.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy {

/// The files that redirections of a command write, in order and each once, for people who are asked
/// about it. Absolute and normal where they are known before it runs; else as they stand in the
/// script: `$HOME/x`, and a relative one in a script that changes its folder.
/// @param cwd absolute  @param home what `~` means; empty: unknown
std::vector<std::string> written_files(const command_analysis& analysis, std::string_view cwd,
                                       std::string_view home);

} // namespace gatehouse::policy
