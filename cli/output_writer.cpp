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
  bool writing = false;
  int kept_back = 0;          ///< guards of `keep_back` that live
  std::size_t before = 0;     ///< pieces in the queue that are older than the first of these
  bool wanted = false;        ///< somebody waits for `may_go_on`
  std::function<void()> wake; ///< unset: closed

  [[nodiscard]] bool may_go_on() const { return bytes <= little || failed[0] || failed[1]; }

  [[nodiscard]] bool may_write() const { return !queue.empty() && (kept_back == 0 || before > 0); }

  void run() {
    std::unique_lock lock{mutex};
    for (;;) {
      changed.wait(lock, [&] { return !wake || may_write(); });
      if (!wake) return;
      const auto next = std::move(queue.front());
      queue.pop_front();
      if (before > 0) --before;
      writing = true;
      const auto index = index_of(next.stream);
      if (failed[index] == 0) {
        lock.unlock();
        const bool written = index == 1 ? print_error(next.text) : print(next.text);
        const int reason = written ? 0 : errno;
        lock.lock();
        failed[index] = reason;
      }
      writing = false;
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

std::shared_ptr<void> output_writer::keep_back(const std::atomic<bool>& given_up) {
  std::unique_lock lock{state_->mutex};
  if (state_->kept_back++ == 0) state_->before = state_->queue.size();
  std::shared_ptr<void> guard{nullptr, [s = state_](void*) {
                                const std::scoped_lock last{s->mutex};
                                --s->kept_back;
                                s->changed.notify_all();
                              }};
  while (state_->wake && (state_->writing || state_->before > 0) && !given_up)
    state_->changed.wait_for(lock, between_looks);
  return guard;
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
