#pragma once

#include "actors/audit/audit_sink.hpp"

#include <memory>
#include <string>

namespace gatehouse::actors {

/// Where the threads of one program write what they do.
struct program_audit {
  std::shared_ptr<audit_sink> sink; ///< unset: nothing is recorded
  std::string program;              ///< "run", "serve", …
  std::string version;
};

} // namespace gatehouse::actors
