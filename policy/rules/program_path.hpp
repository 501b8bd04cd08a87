#pragma once

#include <string>
#include <string_view>

namespace gatehouse::policy {

/// True for a program word that names a file by its place, not a name to look up.
bool is_path(std::string_view program) noexcept;

/// Where `program` leads by its spelling alone: `~` and `~/…` below `home`, anything relative below
/// `cwd`. Empty when it is empty, or needs a `home` or `cwd` that is not absolute.
std::string lexically_absolute(std::string_view program, std::string_view cwd,
                               std::string_view home);

/// The last component of a path without trailing slashes; empty for "/".
std::string_view base_name(std::string_view path) noexcept;

/// True when some component is `..`: then the spelling alone does not say which file it is.
bool climbs(std::string_view path) noexcept;

} // namespace gatehouse::policy
