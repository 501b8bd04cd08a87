#pragma once

#include "policy/shell/script.hpp"

#include <string_view>

namespace gatehouse::policy::shell {

/// A word for arguments that come from elsewhere (the input of xargs): none, one or several.
word unknown_words();

/// Marks `placeholder` inside `w` as a part that is only known when it runs.
void put_unknown(word& w, std::string_view placeholder);

/// True for a shell that reads `[[`, `((`, `$'…'` and `&>` as bash does.
bool is_like_bash(std::string_view name) noexcept;

/// True for the base name of a shell.
bool is_shell_name(std::string_view name) noexcept;

} // namespace gatehouse::policy::shell
