#pragma once

#include <functional>
#include <thread>

namespace gatehouse::cli {

/// Blocks SIGINT, SIGTERM and SIGHUP for this thread and all that it starts afterwards, and calls
/// `on_stop` on a thread of its own for each that comes. Make it before any other thread.
class stop_signals {
public:
  explicit stop_signals(std::function<void()> on_stop);
  ~stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;

private:
  std::jthread waiter_;
};

} // namespace gatehouse::cli
