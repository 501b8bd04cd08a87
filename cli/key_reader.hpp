#pragma once

#include "reactor/event_loop.hpp"
#include "reactor/unique_fd.hpp"

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <termios.h>

namespace gatehouse::cli {

/// A terminal that gives each key at once and shows none itself. Its end gives the terminal back as
/// it was. Used on the loop's thread.
class key_reader {
public:
  /// `terminal` is an open terminal and stays open longer than this object.
  /// @param on_keys bytes as they were typed; empty: the terminal is gone
  key_reader(reactor::event_loop& loop, int terminal, std::function<void(std::string)> on_keys);
  ~key_reader();
  key_reader(const key_reader&) = delete;
  key_reader& operator=(const key_reader&) = delete;

  /// One key at a time, from now on; again after the program was stopped.
  void take();
  /// The terminal as others know it, for the time in which this program is stopped.
  void give_back();

private:
  void read_on();

  reactor::event_loop& loop_;
  int terminal_;
  std::function<void(std::string)> on_keys_;
  std::optional<termios> before_;
  reactor::unique_fd wake_read_;
  reactor::unique_fd wake_write_;
  std::thread thread_;
};

} // namespace gatehouse::cli
