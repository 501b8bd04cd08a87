#pragma once

#include "cli/option_reader.hpp"

namespace gatehouse::cli {

/// `gatehouse run`: one tool call through the whole chain (§204). Returns the status to exit with.
int run_command(arguments given);

} // namespace gatehouse::cli
