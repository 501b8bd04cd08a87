#pragma once

#include "actors/endpoint/thread_watch.hpp"
#include "actors/thread.hpp"
#include "actors/thread_host.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// What a client asks of a new thread; unset is as configured.
struct thread_wishes {
  authority from = authority::agent;
  std::string cwd;
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
  std::shared_ptr<thread_watch> watch;
};

/// Every thread of the daemon, by id. Loop's thread.
class thread_book {
public:
  /// Decides whether a thread may be opened with these wishes, and as what; may read files.
  using opener = std::function<result<thread_opening>(const thread_wishes&)>;

  thread_book(thread_host& host, opener open) : host_{host}, open_{std::move(open)} {}

  result<std::shared_ptr<thread_entry>> start(const thread_wishes& wishes, std::string owner);
  /// Other settings for the calls to come; `wishes` say all of them, from a reviewer. `done` hears
  /// when they hold, or why nothing has changed.
  void update(const std::shared_ptr<thread_entry>& entry, const thread_wishes& wishes,
              std::function<void(const result<void>&)> done);
  [[nodiscard]] std::shared_ptr<thread_entry> find(std::string_view id) const;
  [[nodiscard]] std::vector<std::shared_ptr<thread_entry>> list() const;
  void close(const std::string& id);
  /// Hears of every thread that is started from now on.
  void on_started(std::function<void(const std::shared_ptr<thread_entry>&)> hear) {
    started_ = std::move(hear);
  }

  /// How much threads started from now on keep of their events.
  void retain(std::size_t bytes) noexcept { retained_bytes_ = bytes; }

private:
  thread_host& host_;
  opener open_;
  std::size_t retained_bytes_ = thread_terms{}.retained_bytes;
  std::map<std::string, std::shared_ptr<thread_entry>, std::less<>> threads_;
  std::function<void(const std::shared_ptr<thread_entry>&)> started_;
};

} // namespace gatehouse::actors
