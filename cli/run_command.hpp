#pragma once

#include "cli/option_reader.hpp"

namespace gatehouse::cli {

/// `gatehouse run`: one tool call through decision, approval and sandbox (§204). Takes the words
/// after its name and returns the status to exit with.
int run_command(arguments given);

} // namespace gatehouse::cli
