#pragma once

#include "protocol/denial.hpp"
#include "protocol/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse {

enum class sandbox_event_kind : std::uint8_t {
  started,         ///< the boundary stands and the command has been executed
  blocked,         ///< the boundary refused something: `refusal`, `path`, `call`, `entry`
  exited,          ///< the command ended by itself: `exit_code`
  signalled,       ///< a signal ended the command: `signal`
  exec_failed,     ///< nothing ran: the program could not be executed, `error_number`
  boundary_failed, ///< nothing ran: `message` and `remedy`
  warning,         ///< people should know, about the boundary or what came to be: `message`
  stopped,         ///< `signal` stopped the command, which has not ended
  continued,       ///< and it goes on
  killed,          ///< ended from outside; it ran, or may have run: `message` and `remedy`
};
/// "started", "blocked", … as in the JSON.
std::string_view to_string(sandbox_event_kind k) noexcept;

/// One line of the report that `gatehouse-sandbox` writes to `--report-fd`: what the kernel did and
/// refused, as facts, so that nobody has to guess from a command's own words (§D10).
struct sandbox_event {
  sandbox_event_kind kind = sandbox_event_kind::started;
  denial_kind refusal = denial_kind::file_write; ///< blocked only
  std::string path;    ///< blocked: absolute path of a file or a unix socket, else empty
  std::string call;    ///< blocked: the system call, "mkdirat", "socket"
  std::string family;  ///< blocked, network: "AF_INET", …
  std::string host;    ///< blocked, network: "192.0.2.1:443" where it is known
  std::string entry;   ///< blocked: which protection, "protected name `.git`"
  std::string message; ///< boundary_failed, exec_failed, killed, warning
  std::string remedy;  ///< boundary_failed, killed: what to do next; may be empty
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::optional<int> error_number;

  bool operator==(const sandbox_event&) const = default;
};

/// One JSON object and a newline. Bytes that are not UTF-8 become U+FFFD.
std::string to_json_line(const sandbox_event& event);

/// Reads one line (with or without its newline). Unknown fields are ignored; an unknown event or a
/// wrong type is an error.
/// @return errc::invalid_request
result<sandbox_event> sandbox_event_from_json(std::string_view line);

} // namespace gatehouse
