#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <sys/types.h>

namespace gatehouse::cli {

/// What a process holds, as the kernel counts it.
struct process_sample {
  std::int64_t memory_kib = 0; ///< resident
  std::int64_t descriptors = 0;
  std::int64_t children = 0;        ///< its own, not theirs
  std::chrono::milliseconds cpu{0}; ///< of the process itself, all its threads
};
/// Nothing when there is no such process, or it is another user's.
std::optional<process_sample> sample_process(pid_t pid);

} // namespace gatehouse::cli
