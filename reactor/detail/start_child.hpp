#pragma once

#include "protocol/result.hpp"
#include "reactor/spawn_request.hpp"
#include "reactor/unique_fd.hpp"

#include <sys/types.h>

namespace gatehouse::reactor {

/// A child that is executing its program, and our ends of its descriptors.
struct started_child {
  pid_t pid = -1; ///< also its process group and session; a zombie until waited for
  unique_fd pidfd;
  unique_fd input;  ///< write end of stdin, non-blocking; empty unless `stdin_mode::pipe`
  unique_fd output; ///< stdout or the terminal, non-blocking
  unique_fd errors; ///< stderr, non-blocking; only with `output_mode::pipes`
};

/// Starts the child and waits until it executes its program. Errors: `not_found` the program,
/// `invalid_request` the request itself or its folder, `too_large` the arguments, `io` the system
/// has no descriptor or process left, `spawn_failed` all others. No child is left after an error.
/// The child gets SIGKILL when the calling thread ends.
result<started_child> start_child(const spawn_request& request);

} // namespace gatehouse::reactor
