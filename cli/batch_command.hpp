#pragma once

#include "cli/option_reader.hpp"

namespace gatehouse::cli {

/// `gatehouse batch`: many calls, one JSON line each in and out (§202). Returns the status to exit
/// with.
int batch_command(arguments given);

} // namespace gatehouse::cli
