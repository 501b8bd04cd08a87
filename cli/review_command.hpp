#pragma once

#include "cli/option_reader.hpp"

namespace gatehouse::cli {

/// `gatehouse review` (§204): answers the questions of a running daemon. Takes the words after its
/// name and returns the status to exit with.
int review_command(arguments given);

} // namespace gatehouse::cli
