#pragma once

#include "protocol/result.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/unique_fd.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace gatehouse::reactor {

/// Run on the loop, never inside `open` or `resume`. Each may destroy the reader; then no other
/// follows.
struct line_listener {
  /// One whole line without its line end.
  std::function<void(std::string_view)> on_line;
  /// Once, last. Errors: `too_large` a line beyond the limit, `invalid_request` the stream ends
  /// inside a line, `io` it cannot be read. What was read of such a line is dropped: half a report
  /// is none.
  std::function<void(const result<void>&)> on_end;
};

/// What a line beyond the limit does: it ends the reading, or it is handed on as its first bytes,
/// one more than the limit, so that whoever reads it sees that it is too long.
enum class long_line : std::uint8_t { ends, is_cut };

/// Reads a descriptor line by line, as a child's reports on an extra pipe. Destruction closes it.
class line_reader {
public:
  /// Takes over `fd` and makes it non-blocking.
  static std::unique_ptr<line_reader> open(event_loop& loop, unique_fd fd, line_listener listener,
                                           std::size_t max_line = 64 * 1024,
                                           long_line beyond = long_line::ends);
  ~line_reader();
  line_reader(const line_reader&) = delete;
  line_reader& operator=(const line_reader&) = delete;

  /// No line is handed on until `resume`, and no more is read: its writer must wait.
  void pause();
  void resume();
  /// No writer is left, also where what it wrote is not read yet.
  [[nodiscard]] bool hung_up() const;

private:
  class impl;
  explicit line_reader(std::shared_ptr<impl> i);
  std::shared_ptr<impl> impl_;
};

} // namespace gatehouse::reactor
