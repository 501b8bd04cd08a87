#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Questions about the text of absolute POSIX paths. Nothing here looks at a file system.
namespace gatehouse::policy {

/// `path` without empty, `.` and `..` components and without a trailing slash. `/` stays `/`;
/// `..` at the root stays at the root, as in the kernel.
/// @pre path starts with `/`
std::string lexically_normal(std::string_view path);

/// `path` itself when absolute, else below `base`; normal in both cases. @pre base is absolute
std::string absolute_below(std::string_view base, std::string_view path);

/// True when `path` is `base` or lies below it, component by component. Both normal.
bool is_at_or_below(std::string_view path, std::string_view base) noexcept;

/// True when `path` lies below `base` and is not `base`. Both normal.
bool is_below(std::string_view path, std::string_view base) noexcept;

/// `/` has 0 components, `/a/b` has 2. @pre normal
std::size_t component_count(std::string_view path) noexcept;

/// The folder that holds `path`; of `/` it is `/`. @pre normal
std::string_view parent_of(std::string_view path) noexcept;

/// The last component; of `/` it is empty. @pre normal
std::string_view name_of(std::string_view path) noexcept;

/// The components, without slashes.
std::vector<std::string_view> components_of(std::string_view path);

} // namespace gatehouse::policy
