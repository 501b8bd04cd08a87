#pragma once

#include "policy/command_words.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gatehouse::policy {

/// True for `git status|log|diff|show|branch` forms that only read, without any option that changes
/// where git looks or what it runs (§28). `argv[0]` is git.
bool is_read_only_git(words argv);

/// `git -C x push`, `/usr/libexec/git-core/git-push` → `git push`: the command without its global
/// options, or nothing when it has none and is called git.
std::optional<std::vector<std::string>> without_git_globals(words argv);

/// Why this git command throws work away or rewrites what others share, or nothing.
std::optional<std::string> find_git_danger(words argv);

} // namespace gatehouse::policy
