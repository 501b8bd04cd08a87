#pragma once

#include "cli/option_reader.hpp"

namespace gatehouse::cli {

/// `gatehouse mcp`: a server of the Model Context Protocol on standard input and output. Returns
/// the status to exit with.
int mcp_command(arguments given);

} // namespace gatehouse::cli
