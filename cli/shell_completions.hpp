#pragma once

#include <string>
#include <string_view>

namespace gatehouse::cli {

/// A script that completes the commands and options of the table in `shell`: "bash", "zsh" or
/// "fish"; empty for another one. It needs nothing but the shell.
std::string completion_script(std::string_view shell);

} // namespace gatehouse::cli
