#pragma once

#include "reactor/event_loop.hpp"
#include "reactor/unique_fd.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace gatehouse::reactor {

/// Takes descriptors that another program of ours sends over a unix socket, each with a tag of 32
/// bits in host order.
class fd_receiver {
public:
  /// `on_fd`: on the loop, never inside this call; it may destroy the receiver. The end of the
  /// channel and malformed messages end it quietly.
  fd_receiver(event_loop& loop, unique_fd channel,
              std::function<void(unique_fd, std::uint32_t tag)> on_fd);
  ~fd_receiver();
  fd_receiver(const fd_receiver&) = delete;
  fd_receiver& operator=(const fd_receiver&) = delete;

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace gatehouse::reactor
