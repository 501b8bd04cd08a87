#pragma once

#include "cli/option_reader.hpp"

namespace gatehouse::cli {

/// `gatehouse exec-server`: runs until its input ends (stdio) or a signal ends it.
int exec_server_command(arguments given);

} // namespace gatehouse::cli
