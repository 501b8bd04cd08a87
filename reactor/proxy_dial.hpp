#pragma once

#include "protocol/ip_address.hpp"
#include "protocol/result.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/unique_fd.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gatehouse::reactor {

/// Connects to the first of several addresses that answers: families in turn, the next one after a
/// short wait, so that a dead family costs little (RFC 8305, BR-083). Destroying it gives up.
class dial {
public:
  using done = std::function<void(result<unique_fd>)>;

  /// `on_done`: once, never inside this call, with a non-blocking connected socket or errc::io that
  /// names the last failure; it may destroy the dial.
  /// @pre `addresses` is not empty
  dial(event_loop& loop, std::vector<ip_address> addresses, std::uint16_t port,
       std::chrono::milliseconds limit, done on_done);
  ~dial();
  dial(const dial&) = delete;
  dial& operator=(const dial&) = delete;

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace gatehouse::reactor
