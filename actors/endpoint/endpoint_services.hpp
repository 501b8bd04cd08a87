#pragma once

#include "actors/endpoint/thread_book.hpp"
#include "protocol/rpc/app_methods.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gatehouse::actors {

struct endpoint_limits {
  std::size_t frame_bytes = 16U << 20U;
  std::size_t in_flight = 256;               ///< calls of one session
  std::size_t queued_bytes = 4U << 20U;      ///< toward one client, before it is thought slow
  std::size_t retained_bytes = 4U << 20U;    ///< of a thread's events, for clients that come back
  std::size_t remembered_calls = 256;        ///< finished ones, for a call id that comes again
  std::size_t remembered_bytes = 16U << 20U; ///< that these hold
  std::chrono::milliseconds session_grace{60'000};
};

/// What sessions share. Loop's thread; outlives them.
struct endpoint_services {
  thread_book& threads;
  endpoint_limits limits;
  std::string version;
  /// Answers `policy/explain`: JSON of the answer. `cwd` is the thread's, empty for none.
  std::function<result<std::string>(const std::string& cwd, const json_tree& arguments)> explain;
  /// Those that can be named now. Errors are about the configuration.
  std::function<result<std::vector<rpc::app::profile_summary>>()> profiles;
  std::vector<std::string> sandboxes; ///< what commands are confined by here
  std::function<std::int64_t()> unix_ms;
};

} // namespace gatehouse::actors
