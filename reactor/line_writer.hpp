#pragma once

#include "reactor/event_loop.hpp"
#include "reactor/unique_fd.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace gatehouse::reactor {

/// Run on the loop, never inside `write`.
struct line_writer_listener {
  /// The queue has become empty again after it was longer than 64 KiB.
  std::function<void()> on_drained;
  /// Once: the reader is gone; nothing is written any more.
  std::function<void()> on_lost;
};

/// Writes lines to a descriptor as its reader takes them. Destruction drops what is queued.
class line_writer {
public:
  /// Takes over `fd` and makes it non-blocking.
  static std::unique_ptr<line_writer> open(event_loop& loop, unique_fd fd,
                                           line_writer_listener listener);
  ~line_writer();
  line_writer(const line_writer&) = delete;
  line_writer& operator=(const line_writer&) = delete;

  /// Queues the line and a newline.
  void write(std::string line);
  [[nodiscard]] std::size_t queued_bytes() const noexcept;
  /// Calls back once, on the loop, never inside: when nothing is queued any more. Not when the
  /// reader is gone before.
  void when_written(std::function<void()> told);

private:
  class impl;
  explicit line_writer(std::shared_ptr<impl> i);
  std::shared_ptr<impl> impl_;
};

} // namespace gatehouse::reactor
