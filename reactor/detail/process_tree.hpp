#pragma once

#include "reactor/unique_fd.hpp"

#include <vector>

#include <sys/types.h>

namespace gatehouse::reactor {

/// The descendants of `leader` that left its process group, each held by pidfd so that its number
/// cannot come to mean another process. Finds them through their living parents: one whose parent
/// has ended is out of reach (the sandbox helper's pid namespace or subreaper ends those).
std::vector<unique_fd> find_escapees(pid_t leader);

void send_signal(const unique_fd& pidfd, int signal) noexcept;

} // namespace gatehouse::reactor
