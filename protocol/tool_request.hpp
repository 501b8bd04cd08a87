#pragma once

#include "protocol/result.hpp"
#include "protocol/tool_call.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gatehouse {

/// Arguments of `shell_command` (§4).
struct shell_request {
  /// A script for the user's shell, or an argv that is run as it is.
  std::variant<std::string, std::vector<std::string>> command;
  std::string workdir; ///< empty: the session's folder; relative: below it
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::chrono::milliseconds> time_cap; ///< see limit_time()
  bool login = false;                                ///< with a script only
  gatehouse::sandbox_permissions sandbox_permissions = gatehouse::sandbox_permissions::use_default;
  std::optional<gatehouse::additional_permissions> additional_permissions;
  std::string justification;
  std::vector<std::string> prefix_rule;

  bool operator==(const shell_request&) const = default;
};

/// Arguments of `request_permissions` (§16a).
struct permissions_request {
  additional_permissions permissions;
  std::string reason;

  bool operator==(const permissions_request&) const = default;
};

/// Arguments of `exec_command` (§3): a process that may outlive the call.
struct terminal_request {
  shell_request command; ///< without a time-out: `yield` bounds the wait, never the process (§122)
  bool tty = false;
  std::optional<std::chrono::milliseconds> yield;
  std::optional<std::uint64_t> max_output_tokens;
  std::optional<std::chrono::milliseconds> yield_cap{}; ///< see limit_time()

  bool operator==(const terminal_request&) const = default;
};

/// Arguments of `write_stdin` (§123): writes `chars`, or polls when there are none.
struct stdin_arguments {
  int session_id = 0;
  std::string chars;
  std::optional<std::chrono::milliseconds> yield;
  std::optional<std::uint64_t> max_output_tokens;
  std::optional<std::chrono::milliseconds> yield_cap{}; ///< see limit_time()

  bool operator==(const stdin_arguments&) const = default;
};

using tool_arguments =
    std::variant<shell_request, permissions_request, terminal_request, stdin_arguments>;

/// What an agent asks of a session: `tool/call`.
struct tool_request {
  std::string call_id; ///< of the agent's choice, 1 to 256 bytes; never used twice in one session
  std::string turn_id; ///< empty: the turn that is open
  tool_arguments arguments;

  bool operator==(const tool_request&) const = default;
};

/// "shell_command", "apply_patch" (a shell_request with the argv `apply_patch TEXT`),
/// "request_permissions", "exec_command", "write_stdin".
std::string_view tool_name(const tool_arguments& arguments) noexcept;

/// Reads the JSON arguments of the tool with this name; those of apply_patch are `patch` and, where
/// they differ from the session's, `workdir` and `timeout_ms`. Strict: an unknown tool, field or
/// word, a missing command and a number out of range are errc::invalid_request with the JSON
/// pointer.
result<tool_arguments> decode_tool_arguments(std::string_view tool, std::string_view json);

/// Gives the call no more time than this, whatever its arguments and defaults say: a command or
/// patch is ended by then, and a terminal session is waited for no longer. Errors: a limit out of
/// range; request_permissions, which waits for a person.
result<void> limit_time(tool_arguments& arguments, std::chrono::milliseconds most);

} // namespace gatehouse
