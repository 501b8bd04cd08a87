#pragma once

#include "actors/endpoint/endpoint_limits.hpp"
#include "actors/endpoint/thread_book.hpp"
#include "protocol/rpc/app_methods.hpp"
#include "reactor/event_loop.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

class file_calls;

/// What sessions share. Loop's thread; outlives them.
struct endpoint_services {
  thread_book& threads;
  endpoint_limits limits;
  std::string version;
  /// Answers a `policy/explain` that names no thread: JSON of the answer.
  std::function<result<std::string>(std::string_view tool, const json_tree& arguments)> explain;
  /// Those that can be named now. Errors are about the configuration.
  std::function<result<std::vector<rpc::app::profile_summary>>()> profiles;
  std::vector<std::string> sandboxes; ///< what commands are confined by here
  std::function<std::int64_t()> unix_ms;
  reactor::event_loop& loop;
  std::shared_ptr<file_calls> files{}; ///< never null in a server
};

} // namespace gatehouse::actors
