#pragma once

#include "reactor/unique_fd.hpp"

#include <vector>

#include <sys/types.h>

namespace gatehouse::reactor {

/// Held by pidfd, so that its number cannot come to mean another process.
struct escapee {
  unique_fd handle;
  bool is_child = false; ///< of the leader itself
};

/// The living descendants of `leader` that left its process group. Finds them through their living
/// parents: one whose parent has ended is out of reach (the sandbox helper's pid namespace or
/// subreaper ends those).
std::vector<escapee> find_escapees(pid_t leader);

void send_signal(const unique_fd& pidfd, int signal) noexcept;

} // namespace gatehouse::reactor
