#pragma once

#include "cli/exec_server_process.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace gatehouse::cli {

struct exec_server_terms {
  exec_host host;
  exec_server::environment_info info;
  std::chrono::milliseconds detached{80'000}; ///< how long a session outlives its connection
};

/// The answer to one request: the result as JSON, or why there is none.
using exec_reply =
    std::function<void(std::string json, const std::optional<exec_server::failure>& why)>;

/// Is a command or file call with these terms behind our boundary?
bool has_boundary(const std::optional<exec_server::sandbox_terms>& sandbox);
/// For a request without one, where the server runs nothing so.
exec_server::failure needs_boundary();

} // namespace gatehouse::cli
