#pragma once

#include "actors/process_interfaces.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace gatehouse::actors {

/// The answer to an exec_command or write_stdin that came to nothing.
inline exec_reply_ptr failed_reply(error why) {
  exec_reply reply;
  reply.failure = std::move(why);
  return std::make_shared<const exec_reply>(std::move(reply));
}

/// As a shell tells it: 124 after a time-out, 128+n after a signal. Unset: there is none.
inline std::optional<int> shell_status_of(const attempt_record& record) {
  if (record.ending == attempt_ending::timed_out) return 124;
  if (record.signal) return 128 + *record.signal;
  return record.exit_code;
}

} // namespace gatehouse::actors
