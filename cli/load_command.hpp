#pragma once

#include "cli/option_reader.hpp"

namespace gatehouse::cli {

/// `gatehouse load`: calls against a running server, measured (§203). Returns the status to exit
/// with.
int load_command(arguments given);

} // namespace gatehouse::cli
