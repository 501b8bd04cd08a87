#pragma once

#include "policy/command_words.hpp"

#include <optional>
#include <string>

namespace gatehouse::policy {

/// The last component of a program word, lower case, without drive and `.exe .cmd .bat .com`.
std::string windows_name(std::string_view word);

/// Why a command lowered from PowerShell is dangerous (§20, §29), or nothing.
std::optional<std::string> find_powershell_danger(words argv);

/// The same for `cmd /c …`, for an unread `powershell -Command …`, and for programs that open a
/// URL. Judged on every host: a wrong alarm costs one question and only where such a program is
/// called.
std::optional<std::string> find_windows_danger(words argv);

} // namespace gatehouse::policy
