#include "actors/audit/audit_log.hpp"

#include "actors/audit/audit_bounds.hpp"
#include "policy/redaction.hpp"
#include "reactor/timer.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <deque>
#include <future>
#include <iterator>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <utility>
#include <vector>

namespace gatehouse::actors {
namespace {

constexpr std::size_t entries_between_prunes = 2000;
constexpr int pause_for_step = 4; // of a prune, as long as the step took: calls are written, too
constexpr std::size_t most_in_a_commit = 512;
constexpr std::size_t most_kept_entries = 10'000; // that could not be written
constexpr std::size_t most_lingering = 64;
constexpr std::chrono::milliseconds linger{5};
constexpr std::chrono::hours clock_slack{24}; // a clock that is put right

audit_time system_now() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

/// How long this machine has been up, also while it slept.
std::chrono::nanoseconds up_time() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

/// Does it tell of what happens only once it is written? The end of a call has happened anyway.
bool announces(audit_kind kind) {
  return kind == audit_kind::attempt || kind == audit_kind::review || kind == audit_kind::amendment;
}

/// May it wait a moment for the next entry of its call, which is written with it? Nothing happens
/// in between: these tell what was asked and judged before anything ran, or what is over.
bool may_linger(audit_kind kind) {
  return kind == audit_kind::request || kind == audit_kind::decision ||
         kind == audit_kind::attempt_end;
}

error not_recorded(error why) {
  why.message = "not recorded: " + why.message;
  return why;
}

using answer = std::function<void(const result<void>&)>;

struct waiting {
  audit_store::draft draft;
  answer written;
};

} // namespace

class audit_log::impl {
public:
  impl(reactor::event_loop& loop, audit_terms terms, std::unique_ptr<audit_store> store)
      : loop_{loop}, terms_{std::move(terms)}, store_{std::move(store)}, linger_{loop} {
    if (!terms_.wall_clock) terms_.wall_clock = system_now;
    began_ = now();
    // Signals are for the loop's thread.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread{[this] { serve(); }};
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~impl() {
    {
      const std::lock_guard lock{mutex_};
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// Any thread.
  void add(audit_record entry, answer written) {
    {
      const std::lock_guard lock{mutex_};
      queue_.push_back({{now(), std::move(entry)}, std::move(written)});
      due_ = true;
    }
    changed_.notify_one();
  }

  /// The loop's thread: what nobody waits for is written with what comes next, and soon anyway.
  void add_in_passing(audit_record entry) {
    if (!may_linger(entry.kind)) return add(std::move(entry), {});
    bool full = false;
    {
      const std::lock_guard lock{mutex_};
      queue_.push_back({{now(), std::move(entry)}, {}});
      full = queue_.size() >= most_lingering;
    }
    if (full) return write_now();
    if (!linger_.pending()) linger_.start(linger, [this] { write_now(); });
  }

  /// The loop's thread.
  void add_and_tell(audit_record entry, answer told) {
    linger_.cancel();
    add(std::move(entry), on_loop(std::move(told)));
  }

  /// So that an answer finds its way back to the loop, unless the log has gone. It goes whole: what
  /// it holds, actors for one, ends on the loop's thread, too.
  [[nodiscard]] answer on_loop(answer told) {
    return
        [this, told = std::make_shared<answer>(std::move(told))](const result<void>& how) mutable {
          loop_.post([told = std::move(told), how, alive = std::weak_ptr<void>{alive_}] {
            if (alive.lock()) (*told)(how);
          });
        };
  }

private:
  [[nodiscard]] audit_time now() const { return terms_.wall_clock(); }

  /// What entries are old by: a clock that is set forward must not make all of them too old.
  [[nodiscard]] audit_time lived() const {
    const auto since = std::chrono::duration_cast<std::chrono::microseconds>(up_time() - began_up_);
    return std::min(now(), began_ + since + clock_slack);
  }

  void write_now() {
    {
      const std::lock_guard lock{mutex_};
      due_ = !queue_.empty();
    }
    changed_.notify_one();
  }

  void serve() {
    std::unique_lock lock{mutex_};
    for (;;) {
      const auto due = [this] { return stopping_ || due_; };
      if (pruning_)
        changed_.wait_until(lock, next_step_, due);
      else
        changed_.wait(lock, due);
      if (queue_.empty() && stopping_) break; // what is left to prune waits for the next program
      std::vector<waiting> mine;
      while (!queue_.empty() && mine.size() < most_in_a_commit) {
        mine.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
      due_ = !queue_.empty();
      lock.unlock();
      if (!mine.empty()) write(std::move(mine));
      if (pruning_ && std::chrono::steady_clock::now() >= next_step_) prune();
      lock.lock();
    }
    lock.unlock();
    if (!unwritten_.empty()) write({});
  }

  void write(std::vector<waiting> mine) {
    if (!store_) {
      for (const auto& one : mine)
        if (one.written) one.written({});
      return;
    }
    mine = bounded(std::move(mine));
    std::vector<audit_store::draft> all;
    if (lost_ > 0) {
      audit_record gap;
      gap.kind = audit_kind::lost;
      gap.body = "{\"entries\":" + std::to_string(lost_) + "}";
      all.push_back({now(), std::move(gap)});
    }
    std::ranges::move(unwritten_, std::back_inserter(all));
    unwritten_.clear();
    bool flush = terms_.flush;
    for (auto& one : mine) {
      // The rule itself is flushed.
      flush = flush || one.draft.entry.kind == audit_kind::amendment;
      all.push_back(std::move(one.draft));
    }
    if (all.empty()) return; // all of it was left out
    auto how = append(all, flush);
    if (how)
      lost_ = 0;
    else
      keep(std::move(all), mine);
    if (!how && !terms_.required) {
      told(how);
      how = {};
    }
    for (const auto& one : mine)
      if (one.written) one.written(how);
    written_ += mine.size();
    if (written_ < entries_between_prunes) return;
    written_ = 0;
    pruning_ = true;
  }

  /// As they are written: without secrets, and no longer than they may be.
  std::vector<waiting> bounded(std::vector<waiting> mine) {
    std::vector<waiting> out;
    out.reserve(mine.size());
    for (auto& one : mine) {
      auto& entry = one.draft.entry;
      entry.body = policy::redact_document(entry.body, terms_.secrets);
      bound_entry(entry);
      if (!one.written && denials_.leave_out(entry)) continue;
      if (auto count = denials_.count_before(entry))
        out.push_back({{one.draft.time, *std::move(count)}, {}});
      out.push_back(std::move(one));
    }
    return out;
  }

  result<void> append(const std::vector<audit_store::draft>& all, bool flush) {
    auto stands = stand_in_place();
    return stands ? store_->append(all, flush) : stands;
  }

  /// What is written is written where it will be looked for.
  result<void> stand_in_place() {
    if (!store_->is_moved()) return {};
    const auto anew = store_->renew();
    if (!anew) return anew.error();
    auto next = anew->next;
    if (!anew->put_aside.empty())
      next += " A -wal file that is not of it was put aside: " + anew->put_aside + ".";
    if (terms_.warn) terms_.warn({errc::io, anew->what, std::move(next)});
    return {};
  }

  /// One step: calls wait for no more.
  void prune() {
    const auto start = std::chrono::steady_clock::now();
    const auto more = [&]() -> result<bool> {
      if (!store_) return false;
      if (const auto stands = stand_in_place(); !stands) return stands.error();
      return store_->prune(terms_.keep, lived());
    }();
    if (!more) told(more.error());
    pruning_ = more && *more;
    const auto end = std::chrono::steady_clock::now();
    next_step_ = end + pause_for_step * (end - start);
  }

  /// @param mine the newest of `all`
  void keep(std::vector<audit_store::draft> all, const std::vector<waiting>& mine) {
    const auto older = all.size() - mine.size();
    for (std::size_t i = lost_ > 0 ? 1 : 0; i < all.size(); ++i) {
      const bool will_not_happen =
          i >= older && terms_.required && mine[i - older].written && announces(all[i].entry.kind);
      if (!will_not_happen) unwritten_.push_back(std::move(all[i]));
    }
    for (; unwritten_.size() > most_kept_entries; ++lost_)
      unwritten_.pop_front();
  }

  void told(const result<void>& how) {
    if (how || !terms_.warn || how.error().message == last_told_) return;
    last_told_ = how.error().message;
    terms_.warn(not_recorded(how.error()));
  }

  reactor::event_loop& loop_;
  audit_terms terms_;
  std::unique_ptr<audit_store> store_; ///< none: there is no audit, and it is not required
  audit_time began_{};                 ///< of the wall clock, when the log was opened
  const std::chrono::nanoseconds began_up_ = up_time();
  std::shared_ptr<void> alive_ = std::make_shared<int>();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<waiting> queue_;
  bool due_ = false; ///< `queue_` holds something that does not linger
  bool stopping_ = false;
  std::deque<audit_store::draft> unwritten_; ///< the writer's, as all below
  std::size_t lost_ = 0;                     ///< of them, since the last that stands
  std::size_t written_ = 0;
  denial_bounds denials_;
  bool pruning_ = true; ///< something may be beyond the limits
  std::chrono::steady_clock::time_point next_step_{};
  std::string last_told_;
  reactor::timer linger_; ///< the loop's
  std::thread thread_;
};

result<std::shared_ptr<audit_log>> audit_log::open(reactor::event_loop& loop, audit_terms terms) {
  auto store = audit_store::open(terms.path, audit_store::mode::write);
  if (!store && terms.required) return store.error();
  if (!store && terms.warn) terms.warn(not_recorded(store.error()));
  if (store && terms.warn && !(*store)->put_aside().empty())
    terms.warn({errc::io,
                "the audit " + terms.path +
                    " was moved or removed without its -wal file; a new one "
                    "begins",
                "Newest entries of the old one stand in " + (*store)->put_aside() +
                    ": to read them, move it beside the old one, with the same name and -wal."});
  return std::shared_ptr<audit_log>{new audit_log{std::make_unique<impl>(
      loop, std::move(terms), store ? *std::move(store) : std::unique_ptr<audit_store>{})}};
}

audit_log::audit_log(std::unique_ptr<impl> state) : impl_{std::move(state)} {}
audit_log::~audit_log() = default;

void audit_log::record(audit_record entry, std::function<void(const result<void>&)> written) {
  if (written)
    impl_->add_and_tell(std::move(entry), std::move(written));
  else
    impl_->add_in_passing(std::move(entry));
}

result<void> audit_log::record_and_wait(audit_record entry) {
  const auto end = std::make_shared<std::promise<result<void>>>();
  auto told = end->get_future();
  impl_->add(std::move(entry), [end](const result<void>& how) { end->set_value(how); });
  return told.get();
}

} // namespace gatehouse::actors
