#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gatehouse {

/// What kind of failure an `error` is. A refusal by policy, reviewer or sandbox is not an error but
/// a value of its own (`exec_requirement`, `call_report`). Numbers are stable: never reorder.
enum class errc : std::uint8_t {
  /// A request or an argument cannot be read; nothing was run.
  invalid_request = 1,
  /// A rule file does not parse or fails its own examples.
  invalid_rules = 2,
  /// A permission profile or overlay cannot be read or asks for something no backend can express.
  invalid_profile = 3,
  /// A configuration file cannot be read.
  invalid_config = 4,
  /// A named thing (file, program, profile) does not exist.
  not_found = 5,
  /// The operating system refused a file or socket operation.
  io = 6,
  /// An input exceeds a stated limit.
  too_large = 7,
  /// This host lacks something the boundary needs (bubblewrap, user namespaces, …); nothing ran.
  boundary_unavailable = 8,
  /// Building the boundary failed midway; the command was not started.
  boundary_failed = 9,
  /// A process could not be started.
  spawn_failed = 10,
  /// The caller ended the work.
  cancelled = 11,
  /// A broken invariant of ours: a bug to report.
  internal = 12,
};

/// The name of `code` as it appears in JSON ("invalid_rules").
std::string_view to_string(errc code) noexcept;

/// An expected failure: what happened and where (`message`, one sentence that names file:line:col,
/// JSON pointer or byte offset where there is one) and what to do next (`remedy`, may be empty).
struct error {
  errc code = errc::internal;
  std::string message;
  std::string remedy;

  bool operator==(const error&) const = default;
};

/// `message`, followed by the remedy when there is one: for a terminal or a log.
std::string to_string(const error& e);

} // namespace gatehouse
