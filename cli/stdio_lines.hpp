#pragma once

#include "protocol/result.hpp"
#include "reactor/line_reader.hpp"
#include "reactor/line_writer.hpp"
#include "reactor/timer.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse::cli {

/// What the client on standard input and output does. Run on the loop, never inside a call.
struct stdio_events {
  /// One message. Blank lines are left out. One above `most_line` comes cut, still above it: the
  /// dialect refuses it in its own words.
  std::function<void(std::string_view line)> on_line;
  /// The client has read all that waited for it, after that was long.
  std::function<void()> on_drained;
  /// Its input has ended: it will say nothing more, and may still read.
  std::function<void()> on_input_end;
  /// Once, last: it has read everything, or nothing more can be written. An error says what was
  /// not a plain end of its input.
  std::function<void(const result<void>& how)> on_end;
  /// Calls `then` when what was read is done, so that its answers are written before the end.
  /// Unset: it is done at once.
  std::function<void(const std::function<void()>& then)> when_done{};
};

/// The one client that a program serves over standard input and output, a message a line (§201,
/// BR-197). A client that reads slowly slows itself: while much waits for it, its requests are not
/// read. No answer is dropped while it is there. Loop's thread.
class stdio_lines {
public:
  static constexpr std::size_t most_line = std::size_t{16} << 20U;

  /// Copies of descriptors 0 and 1.
  stdio_lines(reactor::event_loop& loop, stdio_events events);
  stdio_lines(reactor::event_loop& loop, reactor::unique_fd in, reactor::unique_fd out,
              stdio_events events);

  void send(std::string line);
  [[nodiscard]] std::size_t queued_bytes() const;
  /// Nothing more is said, and nothing that is read counts, up to the end of the input; `on_end`
  /// then gives the reason.
  void close(std::string reason);

private:
  void input_ended(const result<void>& how);
  void watch_the_rest();
  void end();

  static constexpr std::size_t long_queue = std::size_t{1} << 20U;
  /// How long a client whose input has ended may take none of what is left.
  static constexpr std::chrono::seconds stuck_limit{30};

  stdio_events events_;
  std::optional<error> why_; ///< the first thing that went wrong
  bool input_over_ = false, silent_ = false;
  bool standard_ = false; ///< it writes to the standard output
  std::size_t left_ = 0;  ///< that was queued when it was looked at last
  reactor::timer patience_;
  std::unique_ptr<reactor::line_writer> writer_; ///< null: closed
  std::unique_ptr<reactor::line_reader> reader_;
};

} // namespace gatehouse::cli
