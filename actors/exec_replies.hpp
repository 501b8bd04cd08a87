#pragma once

#include "actors/process_interfaces.hpp"

#include <memory>
#include <utility>

namespace gatehouse::actors {

/// The answer to an exec_command or write_stdin that came to nothing.
inline exec_reply_ptr failed_reply(error why) {
  exec_reply reply;
  reply.failure = std::move(why);
  return std::make_shared<const exec_reply>(std::move(reply));
}

} // namespace gatehouse::actors
