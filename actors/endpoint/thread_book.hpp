#pragma once

#include "actors/endpoint/endpoint_limits.hpp"
#include "actors/endpoint/thread_watch.hpp"
#include "actors/thread.hpp"
#include "actors/thread_host.hpp"
#include "protocol/rpc/envelope.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

class call_book;

/// What a client asks of a new thread; unset is as configured.
struct thread_wishes {
  authority from = authority::agent;
  std::optional<std::string> environment; ///< id (§7); it is chosen before all that follows
  std::string cwd;                        ///< of that machine; empty: as configured
  std::vector<std::string> roots;
  std::optional<std::string> approval_policy; ///< name or JSON
  std::optional<std::string> profile;         ///< name, or a JSON object (reviewers)
};

/// A thread that may be opened under the configuration.
struct thread_opening {
  thread_terms terms;
  std::vector<std::string> roots;
  std::string approval_policy; ///< JSON
  std::string profile;         ///< name, or "custom"
};

/// One thread of the daemon.
struct thread_entry {
  thread_handle handle;
  std::string owner; ///< session that started it
  thread_opening opening;
  thread_wishes wishes; ///< under which it is open: what was asked for, not what was configured
  std::shared_ptr<thread_watch> watch;
  std::shared_ptr<call_book> calls;
};

/// Every thread of the daemon, by id. Loop's thread.
class thread_book {
public:
  /// Decides whether a thread may be opened with these wishes, and as what; may read files.
  using opener = std::function<result<thread_opening>(const thread_wishes&)>;
  using hearer = std::function<void(const std::shared_ptr<thread_entry>&)>;

  thread_book(thread_host& host, opener open, const endpoint_limits& limits)
      : host_{host}, open_{std::move(open)}, limits_{limits} {}

  /// Why this session cannot start one more now; unset: it can.
  [[nodiscard]] std::optional<rpc::failure> full_for(std::string_view owner) const;
  result<std::shared_ptr<thread_entry>> start(const thread_wishes& wishes, std::string owner);
  /// Other settings for the calls to come; `wishes` say all of them, from a reviewer. `done` hears
  /// when they hold, or why nothing has changed.
  void update(const std::shared_ptr<thread_entry>& entry, const thread_wishes& wishes,
              std::function<void(const result<void>&)> done);
  [[nodiscard]] std::shared_ptr<thread_entry> find(std::string_view id) const;
  [[nodiscard]] std::vector<std::shared_ptr<thread_entry>> list() const;
  /// From now on the thread is not found; it counts until its last call has ended.
  void close(const std::string& id);
  /// Closes all, for good: none can be started any more.
  void close_all();
  [[nodiscard]] bool is_empty() const noexcept {
    return state_->open.empty() && state_->closing.empty();
  }
  /// Hears of every thread that is started from now on.
  void on_started(hearer hear) { state_->started = std::move(hear); }
  /// Hears of every thread that is closed, after the last of its events.
  void on_closed(hearer hear) { state_->closed = std::move(hear); }

private:
  struct state {
    std::map<std::string, std::shared_ptr<thread_entry>, std::less<>> open;
    std::map<std::string, std::shared_ptr<thread_entry>> closing;
    hearer started, closed;
  };

  thread_host& host_;
  opener open_;
  endpoint_limits limits_;
  std::shared_ptr<state> state_ = std::make_shared<state>(); ///< threads may end after this book
  bool over_ = false;
};

} // namespace gatehouse::actors
