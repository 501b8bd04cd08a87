#pragma once

#include "cli/batch_run.hpp"
#include "protocol/error.hpp"

#include <optional>
#include <string>

namespace gatehouse::cli {

/// How a batch ended, for people: a table of what was not fine, and a line of all.
std::string batch_summary(const batch_counts& counts);

/// The same as the last line of `--json`: {"summary": {"calls", "fine", "failed", "refused",
/// "interrupted", "not_run", "remembered", "not_fine": [{"ending", "calls", "first"}]}, "failure"?,
/// "exit_status"}.
/// @param failure why the batch itself could not go on
std::string batch_summary_json(const batch_counts& counts, const std::optional<error>& failure,
                               int status);

} // namespace gatehouse::cli
