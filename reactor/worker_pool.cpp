#include "reactor/worker_pool.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace gatehouse::reactor {
namespace {

struct job {
  std::function<void()> work;
  std::function<void()> done;
  bool for_sure = false;
};

/// Signals are for the loop's thread, whatever was blocked there when the pool began.
void block_all_signals(sigset_t& before) {
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
}

} // namespace

class worker_pool::impl {
public:
  impl(event_loop& loop, std::size_t threads, std::size_t max_waiting)
      : loop_{loop}, max_waiting_{max_waiting} {
    sigset_t before;
    block_all_signals(before);
    try {
      while (threads_.size() < std::max<std::size_t>(threads, 1))
        threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      // The process table is full: fewer threads do the same, later. None can do nothing.
      ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
      if (threads_.empty()) throw;
      return;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~impl() { finish(); }

  void finish() {
    std::deque<job> dropped; // destroyed outside of the lock: their closures may do anything
    {
      const std::lock_guard lock{mutex_};
      stopping_ = true;
      std::deque<job> kept;
      for (auto& one : waiting_)
        (one.for_sure ? kept : dropped).push_back(std::move(one));
      waiting_.swap(kept);
    }
    changed_.notify_all();
    dropped.clear();
    for (auto& thread : threads_)
      thread.join();
    threads_.clear();
    alive_.reset();
  }

  result<void> submit(job next) {
    {
      const std::lock_guard lock{mutex_};
      if (stopping_) return error{errc::cancelled, "the program ends", {}};
      if (waiting_.size() >= max_waiting_)
        return error{errc::too_large,
                     std::to_string(max_waiting_) + " jobs already wait for a worker thread",
                     "try again when some have ended"};
      waiting_.push_back(std::move(next));
    }
    changed_.notify_one();
    return {};
  }

private:
  void serve() {
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      job mine = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      run(std::move(mine));
      lock.lock();
    }
  }

  void run(job mine) noexcept {
    mine.work();
    mine.work = nullptr;
    loop_.post([done = std::move(mine.done), alive = std::weak_ptr<void>{alive_}] {
      if (alive.lock() && done) done();
    });
  }

  event_loop& loop_;
  const std::size_t max_waiting_;
  /// Gone with the pool: completions that come up later are dropped.
  std::shared_ptr<void> alive_ = std::make_shared<int>();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<job> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

worker_pool::worker_pool(event_loop& loop, std::size_t threads, std::size_t max_waiting)
    : impl_{std::make_unique<impl>(loop, threads, max_waiting)} {}
worker_pool::~worker_pool() = default;

result<void> worker_pool::submit(std::function<void()> work, std::function<void()> done) {
  return impl_->submit({std::move(work), std::move(done), false});
}
result<void> worker_pool::submit_for_sure(std::function<void()> work, std::function<void()> done) {
  return impl_->submit({std::move(work), std::move(done), true});
}
void worker_pool::finish() {
  impl_->finish();
}

} // namespace gatehouse::reactor
