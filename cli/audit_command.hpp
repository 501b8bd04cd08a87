#pragma once

#include "cli/option_reader.hpp"

namespace gatehouse::cli {

/// `gatehouse audit`: reads what was recorded (§205). Returns the status to exit with.
int audit_command(arguments given);

} // namespace gatehouse::cli
