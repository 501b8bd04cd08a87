#pragma once

#include "reactor/event_loop.hpp"
#include "reactor/message_channel.hpp"
#include "reactor/unique_fd.hpp"

namespace gatehouse::reactor {

struct line_channel_limits {
  std::size_t message = 16 * 1024 * 1024;
  std::size_t send_queue = 4 * 1024 * 1024; ///< bytes waiting before it counts as full
};

/// A channel of one message a line over two descriptors, as standard input and output. It closes
/// when the input ends or holds a line beyond the limit, or the output cannot be written. Both
/// descriptors are taken over and made non-blocking.
channel_ptr open_line_channel(event_loop& loop, unique_fd input, unique_fd output,
                              line_channel_limits limits = {});

} // namespace gatehouse::reactor
