#pragma once

#include "actors/audit/audit_sink.hpp"

#include <memory>
#include <string>

namespace gatehouse::actors {

/// The one audit of this program. Every thread that begins writes to it; unset: nothing is recorded.
struct program_audit {
  std::shared_ptr<audit_sink> sink;
  std::string program; ///< "run", "serve", …
  std::string version;
};
/// Before the first thread; loop's thread. The end of the thread_host takes it back, since the sink
/// does not outlive its loop.
void set_program_audit(program_audit audit);
const program_audit& the_program_audit() noexcept;

} // namespace gatehouse::actors
