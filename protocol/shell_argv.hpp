#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse {

/// What a command string becomes for the user's shell (§4): `[shell, "-c" or "-lc", command]`. This
/// one argv is what policy judges, people see and the machine runs (§10).
std::vector<std::string> shell_argv(std::string_view shell, std::string_view command, bool login);

} // namespace gatehouse
