#pragma once

#include <chrono>
#include <cstddef>

namespace gatehouse::actors {

struct endpoint_limits {
  std::size_t frame_bytes = 16U << 20U;
  std::size_t in_flight = 256;             ///< calls of one session
  std::size_t waiting_requests = 256;      ///< of one session, of those that take their time
  std::size_t session_threads = 64;        ///< that one session started and that are open
  std::size_t threads = 512;               ///< of all sessions
  std::size_t queued_bytes = 4U << 20U;    ///< toward one client, before more waits
  std::size_t waiting_messages = 16'384;   ///< answers and questions that wait for one client
  std::chrono::milliseconds stuck{30'000}; ///< a client that has taken nothing for so long is away
  std::size_t retained_bytes = 4U << 20U;  ///< of a thread's events, for clients that come back
  std::size_t remembered_calls = 1'024;    ///< ended ones of a thread, for an id that comes again
  std::size_t remembered_outputs = 256;    ///< of them, for which one session keeps the output
  std::size_t remembered_bytes = 16U << 20U; ///< of the outputs that one session keeps of them
  std::chrono::milliseconds session_grace{60'000};
};

} // namespace gatehouse::actors
