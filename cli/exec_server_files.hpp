#pragma once

#include "protocol/exec_server.hpp"

namespace gatehouse::cli {

/// Carries out one file call in this process, with its authority: inside a boundary where one is
/// asked for. May block.
exec_server::file_answer perform_file_call(const exec_server::file_call& call);

/// `gatehouse file-call`: one call on standard input, its answer on standard output; how a server
/// of ours touches files inside a boundary.
int file_call_command();

} // namespace gatehouse::cli
