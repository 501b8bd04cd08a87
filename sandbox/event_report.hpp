#pragma once

#include "protocol/sandbox_event.hpp"

#include <cstddef>
#include <set>
#include <string>

namespace gatehouse::sandbox {

/// Writes sandbox events as JSON lines to a descriptor it does not own; -1: nowhere.
/// Equal refusals are written once and their number is bounded, so that a command in a loop neither
/// floods the reader nor makes us wait behind a full pipe.
class event_report {
public:
  explicit event_report(int fd) noexcept : fd_{fd} {}

  void send(const sandbox_event& event);
  /// Something about the boundary that people should know, before the command starts: into the
  /// report, or, where nobody reads one, as a line on standard error.
  void warn(const std::string& text);
  /// The event, and one line for people on standard error. Nothing ran.
  void boundary_failed(const error& why);
  /// The same, when the command may have run: in the report, or where nobody reads one on standard
  /// error, which may be the command's terminal.
  void boundary_ended(const error& why);

  static constexpr std::size_t most_refusals = 200;

private:
  void report_failure(const error& why);

  int fd_;
  std::set<std::string> seen_;
};

} // namespace gatehouse::sandbox
