#include "actors/audit/audit_log.hpp"

#include "policy/redaction.hpp"
#include "protocol/json_tree.hpp"
#include "protocol/json_writer.hpp"

#include <condition_variable>
#include <csignal>
#include <deque>
#include <future>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <utility>
#include <vector>

namespace gatehouse::actors {
namespace {

constexpr std::size_t entries_between_prunes = 2000;
constexpr std::size_t most_in_a_commit = 512;
constexpr std::size_t most_kept_entries = 10'000; // that could not be written
constexpr std::size_t largest_body = std::size_t{32} << 20U;

audit_time now() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

/// What cannot be read again is not written: it may hold anything.
std::string without_secrets(const std::string& body) {
  auto tree = parse_json(body, {"an entry", errc::internal, "", largest_body});
  if (!tree) return R"({"unreadable":true})";
  policy::redact(*tree);
  json_writer out;
  write_tree(out, *tree);
  return std::move(out).take();
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
      : loop_{loop}, terms_{std::move(terms)}, store_{std::move(store)} {
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

  void add(audit_record entry, answer written) {
    {
      const std::lock_guard lock{mutex_};
      queue_.push_back({{now(), std::move(entry)}, std::move(written)});
    }
    changed_.notify_one();
  }

  /// So that an answer finds its way back to the loop, unless the log has gone.
  [[nodiscard]] answer on_loop(answer told) {
    return [this, told = std::move(told)](const result<void>& how) {
      loop_.post([told, how, alive = std::weak_ptr<void>{alive_}] {
        if (alive.lock()) told(how);
      });
    };
  }

private:
  void serve() {
    if (store_) told(store_->prune(terms_.keep, now()));
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty() && stopping_) break;
      std::vector<waiting> mine;
      while (!queue_.empty() && mine.size() < most_in_a_commit) {
        mine.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
      lock.unlock();
      write(std::move(mine));
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
    std::vector<audit_store::draft> all{std::make_move_iterator(unwritten_.begin()),
                                        std::make_move_iterator(unwritten_.end())};
    unwritten_.clear();
    for (auto& one : mine) {
      one.draft.entry.body = without_secrets(one.draft.entry.body);
      all.push_back(std::move(one.draft));
    }
    auto how = store_->append(all);
    if (!how) keep(std::move(all));
    if (!how && !terms_.required) {
      told(how);
      how = {};
    }
    for (const auto& one : mine)
      if (one.written) one.written(how);
    written_ += mine.size();
    if (written_ < entries_between_prunes) return;
    written_ = 0;
    told(store_->prune(terms_.keep, now()));
  }

  void keep(std::vector<audit_store::draft> all) {
    unwritten_.assign(std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
    while (unwritten_.size() > most_kept_entries)
      unwritten_.pop_front();
  }

  void told(const result<void>& how) {
    if (how || !terms_.warn || how.error().message == last_told_) return;
    last_told_ = how.error().message;
    terms_.warn(how.error());
  }

  reactor::event_loop& loop_;
  audit_terms terms_;
  std::unique_ptr<audit_store> store_; ///< none: there is no audit, and it is not required
  std::shared_ptr<void> alive_ = std::make_shared<int>();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<waiting> queue_;
  bool stopping_ = false;
  std::deque<audit_store::draft> unwritten_; ///< the writer's, as all below
  std::size_t written_ = 0;
  std::string last_told_;
  std::thread thread_;
};

result<std::shared_ptr<audit_log>> audit_log::open(reactor::event_loop& loop, audit_terms terms) {
  auto store = audit_store::open(terms.path, audit_store::mode::write, terms.flush);
  if (!store && terms.required) return store.error();
  if (!store && terms.warn) terms.warn(store.error());
  return std::shared_ptr<audit_log>{new audit_log{std::make_unique<impl>(
      loop, std::move(terms), store ? *std::move(store) : std::unique_ptr<audit_store>{})}};
}

audit_log::audit_log(std::unique_ptr<impl> state) : impl_{std::move(state)} {}
audit_log::~audit_log() = default;

void audit_log::record(audit_record entry, std::function<void(const result<void>&)> written) {
  impl_->add(std::move(entry), written ? impl_->on_loop(std::move(written)) : answer{});
}

result<void> audit_log::record_and_wait(audit_record entry) {
  const auto end = std::make_shared<std::promise<result<void>>>();
  auto told = end->get_future();
  impl_->add(std::move(entry), [end](const result<void>& how) { end->set_value(how); });
  return told.get();
}

} // namespace gatehouse::actors
