#pragma once

#include "actors/thread_terms.hpp"
#include "cli/option_reader.hpp"
#include "protocol/result.hpp"
#include "reactor/event_loop.hpp"

namespace gatehouse::cli {

/// With `--exec-server URL`: everything of the session runs on the machine of that server, in
/// `--exec-cwd`, with `--exec-token-file` (§7). Without it nothing changes. Errors are about the
/// options.
/// @param loop outlives the thread
result<void> move_to_exec_server(actors::thread_terms& terms, const options& given,
                                 reactor::event_loop& loop);

} // namespace gatehouse::cli
