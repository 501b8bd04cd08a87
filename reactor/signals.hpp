#pragma once

#include "protocol/result.hpp"
#include "reactor/event_loop.hpp"

#include <functional>
#include <initializer_list>
#include <memory>

namespace gatehouse::reactor {

/// Brings signals of the process (SIGINT, SIGTERM, SIGHUP, …) to the loop. Never SIGCHLD: children
/// are watched by pidfd. As long as it lives, the signals no longer do what they do by default;
/// afterwards they do again.
class signal_watch {
public:
  /// `on_signal` runs on the loop, once for one or more arrivals of a signal. Error: `io` a signal
  /// cannot be caught.
  static result<std::unique_ptr<signal_watch>>
  open(event_loop& loop, std::initializer_list<int> signals, std::function<void(int)> on_signal);
  ~signal_watch();
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;

private:
  class impl;
  explicit signal_watch(std::shared_ptr<impl> i);
  std::shared_ptr<impl> impl_;
};

} // namespace gatehouse::reactor
