#pragma once

#include "policy/access.hpp"
#include "reactor/process.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

/// Hears the output of commands as it comes, unbounded: (call id, stream, bytes).
using output_listener =
    std::function<void(const std::string&, reactor::output_stream, std::string_view)>;

struct shell_runtime_settings {
  std::string helper; ///< absolute path of gatehouse-sandbox
  /// "NAME=value": the environment of every command; see sandbox::inherited_environment.
  std::vector<std::string> environment;
  /// tmpdir and the protections of this host; cwd and project roots come from the attempt.
  policy::access_context host;
  std::vector<std::string> extra_protected_names; ///< of the configuration, beside the built-in
  std::chrono::milliseconds default_timeout{std::chrono::seconds{10}};
  std::chrono::milliseconds grace{500}; ///< from SIGTERM to SIGKILL
  std::size_t output_cap = 1024 * 1024; ///< bytes of each of stdout, stderr, aggregate (§96)
  output_listener on_output;            ///< may be empty
};

} // namespace gatehouse::actors
