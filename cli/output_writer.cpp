#include "cli/output_writer.hpp"

#include "cli/output.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

namespace gatehouse::cli {
namespace {

/// More than this, and the command is slowed.
constexpr std::size_t little = 256 * 1024;
constexpr std::chrono::milliseconds between_looks{50};

struct piece {
  reactor::output_stream stream;
  std::string text;
};

std::size_t index_of(reactor::output_stream stream) {
  return stream == reactor::output_stream::standard_error ? 1 : 0;
}

} // namespace

/// What the writing thread shares; it may outlive the writer.
struct output_writer::state {
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::deque<piece> queue;
  std::size_t bytes = 0; ///< in the queue and in the write under way
  std::array<int, 2> failed{};
  int pauses = 0;
  std::size_t before_pause = 0; ///< pieces of the queue that a pause waits for
  bool writing = false;
  bool wanted = false;        ///< somebody waits for `may_go_on`
  std::function<void()> wake; ///< unset: closed

  [[nodiscard]] bool may_go_on() const { return bytes <= little || failed[0] || failed[1]; }

  void run() {
    std::unique_lock lock{mutex};
    for (;;) {
      changed.wait(lock,
                   [&] { return !wake || (!queue.empty() && (pauses == 0 || before_pause > 0)); });
      if (!wake) return;
      if (before_pause > 0) --before_pause;
      const auto next = std::move(queue.front());
      queue.pop_front();
      const auto index = index_of(next.stream);
      if (failed[index] == 0) {
        writing = true;
        lock.unlock();
        const bool written = index == 1 ? print_error(next.text) : print(next.text);
        const int reason = written ? 0 : errno;
        lock.lock();
        writing = false;
        failed[index] = reason;
      }
      bytes -= next.text.size();
      if (wake && (bytes == 0 || failed[index] != 0 || (wanted && may_go_on()))) {
        wanted = false;
        wake();
      }
      changed.notify_all();
    }
  }
};

output_writer::output_writer(reactor::event_loop& loop) : state_{std::make_shared<state>()} {
  // The state is the thread's as well; `close` makes `this` unreachable before it goes.
  state_->wake = [this, &loop, s = std::weak_ptr{state_}] {
    loop.post([this, s] {
      const auto alive = s.lock();
      if (alive && alive->wake) go_on();
    });
  };
}

output_writer::~output_writer() {
  close();
}

void output_writer::write(reactor::output_stream stream, std::string text) {
  if (text.empty()) return;
  const std::scoped_lock lock{state_->mutex};
  if (!state_->wake) return;
  state_->bytes += text.size();
  state_->queue.push_back({stream, std::move(text)});
  state_->changed.notify_all();
  if (!thread_.joinable()) thread_ = std::thread{[s = state_] { s->run(); }};
}

void output_writer::when_short(std::function<void()> next) {
  {
    const std::scoped_lock lock{state_->mutex};
    if (!state_->wake) return;
    if (!state_->may_go_on()) {
      state_->wanted = true;
      return waiting_.push_back(std::move(next));
    }
  }
  next();
}

void output_writer::go_on() {
  {
    const std::scoped_lock lock{state_->mutex};
    state_->wanted = !state_->may_go_on();
    if (state_->wanted) return;
  }
  for (const auto& next : std::exchange(waiting_, {}))
    next();
}

bool output_writer::idle() const {
  const std::scoped_lock lock{state_->mutex};
  return state_->bytes == 0;
}

std::optional<int> output_writer::failure(reactor::output_stream stream) const {
  const std::scoped_lock lock{state_->mutex};
  const int reason = state_->failed[index_of(stream)];
  return reason != 0 ? std::optional{reason} : std::nullopt;
}

void output_writer::pause(const std::atomic<bool>& given_up) {
  std::unique_lock lock{state_->mutex};
  if (state_->pauses++ == 0) state_->before_pause = state_->queue.size();
  while (state_->wake && (state_->before_pause > 0 || state_->writing) && !given_up)
    state_->changed.wait_for(lock, between_looks);
}

void output_writer::resume() {
  const std::scoped_lock lock{state_->mutex};
  if (--state_->pauses == 0) state_->before_pause = 0;
  state_->changed.notify_all();
}

void output_writer::close() {
  bool writing = false;
  {
    const std::scoped_lock lock{state_->mutex};
    state_->wake = {};
    writing = state_->bytes != 0;
    state_->changed.notify_all();
  }
  waiting_.clear();
  if (!thread_.joinable()) return;
  if (writing)
    thread_.detach(); // the system call cannot be ended; the program's end does
  else
    thread_.join();
}

} // namespace gatehouse::cli
