#pragma once

#include "reactor/event_loop.hpp"
#include "reactor/output_stream.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace gatehouse::cli {

/// Writes to standard output and standard error on a thread of its own, so that a reader who does
/// not read holds up nothing but the writing: signals, time limits and the command's end go on
/// (§95, §204). Everything is written completely and in the order of `write`. One loop's thread
/// uses it, but for `keep_back`.
class output_writer {
public:
  /// `loop` outlives `close`, and gets an event when something can go on.
  explicit output_writer(reactor::event_loop& loop);
  ~output_writer();
  output_writer(const output_writer&) = delete;
  output_writer& operator=(const output_writer&) = delete;

  /// Queues the text. What follows a failure on the same stream is dropped.
  void write(reactor::output_stream stream, std::string text);
  /// Calls `next` once little waits to be written: at once, or later on the loop. After a failure
  /// at once, after `close` never.
  void when_short(std::function<void()> next);
  /// Everything has been written, or could not be.
  [[nodiscard]] bool idle() const;
  /// The errno of the first failure of that stream.
  [[nodiscard]] std::optional<int> failure(reactor::output_stream stream) const;

  /// Blocks until what was queued so far is written, `close`, or `given_up`. What is queued from
  /// the call on is written only when the returned guard is gone. Any thread but the loop's.
  [[nodiscard]] std::shared_ptr<void> keep_back(const std::atomic<bool>& given_up);
  /// Drops what is not written yet, and every `next`. A write that hangs is left to the end of the
  /// program.
  void close();

private:
  struct state;
  void go_on();

  std::shared_ptr<state> state_;
  std::vector<std::function<void()>> waiting_;
  std::thread thread_;
};

} // namespace gatehouse::cli
