#pragma once

#include "policy/command_words.hpp"

#include <optional>
#include <string>

namespace gatehouse::policy {

/// True when `rm` would delete without a question: `-f` in any cluster, `--force` or an
/// abbreviation, before `--` (§29).
bool is_forced_rm(words argv);

/// Why a program that deletes or overwrites files, changes their modes or writes to disks is
/// dangerous, or nothing. Forced rm is not looked at here. `hidden_words` counts words
/// that are only known when the command runs and may be options.
std::optional<std::string> find_file_danger(words argv, int hidden_words);

} // namespace gatehouse::policy
