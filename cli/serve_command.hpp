#pragma once

#include "cli/option_reader.hpp"

namespace gatehouse::cli {

/// `gatehouse serve`: the endpoint for IDE extensions and other clients (§201). Returns the status
/// to exit with.
int serve_command(arguments given);

} // namespace gatehouse::cli
