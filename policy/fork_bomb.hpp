#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gatehouse::policy {

/// Why `script` may be a fork bomb: it defines a shell function that starts itself, also by way of
/// others, twice in a pipe or in the background: `:(){ :|:& };:`, `function f { f | f & }`, `a()
/// (b|b&); b() (a|a&)`. Recursion alone is none. Bounded: what is too entangled to follow is a
/// reason, too.
std::optional<std::string> find_fork_bomb(std::string_view script);

} // namespace gatehouse::policy
