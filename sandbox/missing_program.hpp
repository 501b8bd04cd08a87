#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// A program that this host has and a view does not show (BR-126): what starting it needs and
/// `is_hidden` says of, in the order in which it is needed: the file that its links lead to, then
/// the same for the interpreter that its first line names. `program`: as in an argv; `cwd`:
/// absolute; `path`: $PATH. Empty when nothing is hidden, or the host has no such program either.
/// Looks (realpath, the first line); runs nothing.
std::vector<std::string> hidden_parts_of(const std::string& program, const std::string& cwd,
                                         std::string_view path,
                                         const std::function<bool(const std::string&)>& is_hidden);

} // namespace gatehouse::sandbox
