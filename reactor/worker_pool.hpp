#pragma once

#include "protocol/result.hpp"
#include "reactor/event_loop.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace gatehouse::reactor {

/// A few threads for work that blocks or burns (glob walks, database commits, large JSON). The work
/// runs on one of them and must touch nothing of the loop; its completion runs on the loop.
class worker_pool {
public:
  /// Fewer threads when the process table is full, std::system_error when there is no room for one.
  /// `max_waiting`: jobs that may wait for a thread; more are refused.
  worker_pool(event_loop& loop, std::size_t threads, std::size_t max_waiting = 1024);
  /// As finish().
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  /// Queues `work`; `done` runs on the loop after it, never inside this call. Exceptions in `work`
  /// end the program: expected failures are values. Error: `too_large` too many jobs wait; then
  /// neither runs.
  result<void> submit(std::function<void()> work, std::function<void()> done);
  /// As above, for work that must not be lost: finish() does it, too. It owns what it uses.
  result<void> submit_for_sure(std::function<void()> work, std::function<void()> done);

  /// As above, for work that returns a value.
  template <class Work, class Done>
  result<void> submit_value(Work work, Done done) {
    using value = std::invoke_result_t<Work&>;
    auto slot = std::make_shared<std::optional<value>>();
    return submit([slot, work = std::move(work)]() mutable { slot->emplace(work()); },
                  [slot, done = std::move(done)]() mutable { done(std::move(**slot)); });
  }

  /// Drops what waits, waits for what runs or must be done, and drops their completions. Nothing is
  /// done afterwards.
  void finish();

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace gatehouse::reactor
