#pragma once

#include "reactor/event_loop.hpp"
#include "reactor/process.hpp"
#include "reactor/spawn_request.hpp"
#include "reactor/timer.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace gatehouse::reactor {

/// One question to a program: what it reads on standard input and how long it may take.
struct exchange_request {
  spawn_request spawn; ///< input and output are set by the exchange
  std::string input;   ///< written, then standard input is closed
  std::chrono::milliseconds limit{0};
  std::size_t max_output = 1024 * 1024; ///< of each stream
};

/// How the program answered.
struct exchange_end {
  enum class ending : std::uint8_t { exited, signalled, timed_out, not_started };
  ending how = ending::not_started;
  int code = 0;          ///< exit status or signal
  std::string out;       ///< standard output, at most `max_output` bytes
  std::string err;       ///< standard error, at most `max_output` bytes
  bool too_much = false; ///< a stream went beyond the limit and the program was killed
  std::string why;       ///< not_started: the reason
};

/// Runs a program once: text in, text out. Whatever happens, its whole process tree has been killed
/// when the end is reported.
class program_exchange {
public:
  /// @param done called once on the loop, never inside this call; it may destroy the exchange
  program_exchange(event_loop& loop, exchange_request request,
                   std::function<void(exchange_end)> done);
  /// Kills what still runs; `done` is not called any more.
  ~program_exchange() = default;
  program_exchange(const program_exchange&) = delete;
  program_exchange& operator=(const program_exchange&) = delete;

private:
  void start(event_loop& loop, exchange_request& request);
  void take(output_stream stream, std::string_view bytes);
  void finish();

  std::function<void(exchange_end)> done_;
  exchange_end end_;
  std::size_t max_output_;
  bool timed_out_ = false;
  timer limit_;
  std::shared_ptr<process> child_;
};

} // namespace gatehouse::reactor
