#pragma once

#include "cli/option_reader.hpp"
#include "protocol/tool_request.hpp"

#include <cstdint>

namespace gatehouse::cli {

/// `gatehouse run` (§204): one command through decision, approval and sandbox. Takes the words
/// after its name and returns the status to exit with.
int run_command(arguments given);

/// What stands on standard error besides the call's own words.
enum class report_style : std::uint8_t {
  summary,     ///< how it was decided, where it ran, how it ended
  result_only, ///< the message when it was refused or failed
};

/// Runs one call under the configuration and the options `--profile`, `--ask`, `--cwd`,
/// `--timeout-ms`, `--rules` and `--json` of a command line; returns the status to exit with.
int run_call(const options& given, shell_request wish, report_style style);

} // namespace gatehouse::cli
