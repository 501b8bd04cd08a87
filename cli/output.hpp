#pragma once

#include "protocol/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::cli {

/// Exit statuses of our own; `run` and `sandbox` otherwise end with the command's (docs).
inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_wrong_usage = 2;
inline constexpr int exit_no_boundary = 121; ///< of `run`, and of what is a call like it

/// Writes everything to standard output; false when it cannot (a full disk, a closed pipe).
bool print(std::string_view text) noexcept;
/// The same for standard error, as it is.
bool print_error(std::string_view text) noexcept;
/// "gatehouse: …" and a newline on standard error.
void complain(std::string_view text);
void complain(const error& failure);
/// "gatehouse: warning: …" for each.
void warn(const std::vector<std::string>& warnings);

/// Says what is wrong with the command line and how a right one looks; returns exit_wrong_usage.
int wrong_usage(std::string_view what, std::string_view example);

} // namespace gatehouse::cli
