#pragma once

#include "policy/command_words.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gatehouse::policy {

/// The command as a rule would name it: without the options between a program and its subcommand,
/// and by the short name of both (`docker -H h container run x` → `docker run x`,
/// `git -C d push` and `/usr/libexec/git-core/git-push` → `git push`, `make -C d -j4 install` →
/// `make install`). Nothing when that is what `argv` says already, or the program is not known
/// here. For restrictions only: what is left out may matter to an allow.
std::optional<std::vector<std::string>> without_global_options(words argv);

} // namespace gatehouse::policy
