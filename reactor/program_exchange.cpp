#include "reactor/program_exchange.hpp"

#include <utility>

namespace gatehouse::reactor {
namespace {

// Its group is killed when it exits: only what left the group can still hold a stream.
constexpr std::chrono::milliseconds drain{250};

} // namespace

program_exchange::program_exchange(event_loop& loop, exchange_request request,
                                   std::function<void(exchange_end)> done)
    : done_{std::move(done)}, max_output_{request.max_output}, limit_{loop} {
  start(loop, request);
}

void program_exchange::start(event_loop& loop, exchange_request& request) {
  request.spawn.input = stdin_mode::pipe;
  request.spawn.output = output_mode::pipes;
  process_listener listener;
  listener.on_output = [this](output_stream stream, std::string_view bytes) {
    take(stream, bytes);
  };
  listener.on_exit = [this](const exit_status& status) {
    end_.how = status.signal ? exchange_end::ending::signalled : exchange_end::ending::exited;
    end_.code = status.signal ? *status.signal : status.code.value_or(exit_status::unknown_code);
  };
  listener.on_end = [this](const process_end&) { finish(); };
  auto child =
      process::spawn(loop, request.spawn, std::move(listener), {drain, request.input.size() + 1});
  if (!child) {
    end_.why = child.error().message;
    limit_.start(clock::duration::zero(), [this] { finish(); });
    return;
  }
  child_ = *std::move(child);
  limit_.start(request.limit, [this] {
    timed_out_ = true;
    child_->terminate(std::chrono::milliseconds::zero());
  });
  // A program that does not read its input has closed the pipe; that is its own affair.
  if (!request.input.empty()) (void)child_->write_stdin(std::move(request.input));
  child_->close_stdin();
}

void program_exchange::take(output_stream stream, std::string_view bytes) {
  std::string& text = stream == output_stream::standard_output ? end_.out : end_.err;
  const auto room = max_output_ - text.size();
  text.append(bytes.substr(0, room));
  if (bytes.size() > room && !std::exchange(end_.too_much, true))
    child_->terminate(std::chrono::milliseconds::zero());
  child_->grant(stream);
}

void program_exchange::finish() {
  limit_.cancel();
  if (timed_out_) end_.how = exchange_end::ending::timed_out;
  const auto done = std::move(done_);
  done(std::move(end_));
}

} // namespace gatehouse::reactor
