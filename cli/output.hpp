#pragma once

#include "protocol/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::cli {

/// Exit statuses of our own; `run` and `sandbox` otherwise end with the command's (docs).
inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_wrong_usage = 2;
inline constexpr int exit_no_boundary = 121; ///< of `run`, and of what is a call like it

/// Writes everything to standard output, as it is: what programs read, and text of ours alone.
/// False when it cannot (a full disk, a closed pipe).
bool print(std::string_view text) noexcept;
/// The same for text with words in it that others chose (a path, a rule, an argument): nothing in
/// it can move the cursor of a terminal.
bool print_for_people(std::string_view text);
/// On standard error, as it is: for text that is visible already.
bool print_error(std::string_view text) noexcept;
/// "gatehouse: …" and a newline on standard error, by visible_error().
void complain(const error& failure);
/// "gatehouse: warning: …" for each.
void warn(const error& what);
void warn(const std::vector<std::string>& warnings);

/// What a program reads on standard output when a command fails.
enum class failure_document : std::uint8_t {
  none,    ///< nothing: people read the words on standard error
  failure, ///< {"failure": {"kind", "message", "remedy"?}, "exit_status"}
  report,  ///< the same within the report of a call that never ran (`gatehouse run --json`)
};
/// For every failure of this process from here on. open_command_line() sets it, since `--json` asks
/// for one.
void tell_failures_as(failure_document form) noexcept;

/// The end of a command that failed: says why on standard error and, where a program reads, as the
/// one document on standard output.
/// @returns `status`, which stands in the document
int fail(const error& why, int status);

/// Fails with what is wrong with the command line, and how a right one looks.
/// @returns exit_wrong_usage
int wrong_usage(const error& what, std::string_view example);

} // namespace gatehouse::cli
