#pragma once

#include "policy/command_words.hpp"

namespace gatehouse::policy {

/// True when a shell runs `argv` itself although a program of that name may exist, and the run may
/// change the shell (variables, the working directory, what names mean) or evaluate a word once
/// more: `printf -v`, `test -v 'a[$(x)]'`, `read`, `hash -p`. A rule about the program says nothing
/// about that. Builtins that only print or compare (`echo`, `true`, a `printf` of plain text) are
/// not meant. Only a bare word is a builtin: `/usr/bin/printf` never is.
bool acts_inside_shell(words argv);

} // namespace gatehouse::policy
