#pragma once

#include "policy/access.hpp"
#include "protocol/attempt.hpp"
#include "protocol/call_report.hpp"
#include "protocol/sandbox_event.hpp"
#include "reactor/process.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// What is known when an attempt's process tree has ended.
struct attempt_facts {
  std::vector<sandbox_event> events; ///< the helper's report, in order
  reactor::exit_status helper;       ///< how the helper itself ended
  bool timed_out = false;            ///< we ended it because its time was over
  bool cancelled = false;            ///< we ended it because the call was taken back
  std::string_view stdout_text;
  std::string_view stderr_text;
};

/// How an attempt ended (§97): its own signal, the time-out, a denial, or a plain end, in this
/// order; whatever ended it, its words never turn a time-out or a signal into a denial. Looks at
/// paths of the host only where a denial has to be attributed. `context`: what the attempt's
/// symbolic paths and protections meant. `duration` is left to the caller.
attempt_record classify_attempt(const attempt& what, const policy::access_context& context,
                                const attempt_facts& facts);

} // namespace gatehouse::actors
