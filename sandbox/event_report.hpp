#pragma once

#include "protocol/sandbox_event.hpp"

#include <cstddef>
#include <set>
#include <string>

namespace gatehouse::sandbox {

/// Does this process run inside a boundary of ours? By what the environment says: good for texts
/// only.
bool inside_a_boundary() noexcept;

/// Inside a boundary of ours no other can be made: then that is the reason why one could not be
/// built, before whatever the system said. Else `why`.
error in_another_boundary(error why);

/// Writes sandbox events as JSON lines to a descriptor it does not own; -1: nowhere.
/// Equal refusals are written once, and their number and that of stops is bounded, so that a
/// command in a loop neither floods the reader nor makes us wait behind a full pipe.
class event_report {
public:
  explicit event_report(int fd) noexcept : fd_{fd} {}

  void send(const sandbox_event& event);
  /// Something about the boundary that people should know, before the command starts: into the
  /// report, or, where nobody reads one, as a line on standard error.
  void warn(const std::string& text);
  /// In the report, or where nobody reads one a line on standard error, which may be the command's
  /// terminal. Says so when this process is itself inside a boundary of ours.
  void boundary_failed(const error& reason);
  /// The same where the command ran or may have run.
  void killed(const error& reason);

  static constexpr std::size_t most_refusals = 200;

private:
  void end(sandbox_event_kind kind, const error& why);

  int fd_;
  std::set<std::string> seen_;
  std::size_t stops_ = 0;
};

} // namespace gatehouse::sandbox
