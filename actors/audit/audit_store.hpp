#pragma once

#include "protocol/audit.hpp"
#include "protocol/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gatehouse::actors {

using audit_time = std::chrono::sys_time<std::chrono::microseconds>;

/// An entry as it stands. Equal fields and an equal entry before it give an equal `hash`; a change
/// anywhere changes every hash after it.
struct audit_entry {
  std::int64_t seq = 0; ///< counts from 1 without a gap
  audit_time time{};    ///< when it was written down
  std::string kind;     ///< of audit_kind; a newer version may know more
  std::string session, turn, call;
  int attempt = 0;
  std::string body; ///< one JSON object
  std::string hash; ///< 64 hexadecimal digits
};

/// What may be kept; zero: without limit.
struct audit_retention {
  std::chrono::days age{90};
  std::int64_t bytes = std::int64_t{256} << 20U; ///< of the database file
};

/// Which entries, all conditions together; empty: all.
struct audit_filter {
  std::optional<audit_time> since{}, until{};
  std::string session{}, call{}, kind{};
  std::int64_t first = 0; ///< seq at least
  std::int64_t limit = 0; ///< the newest so many; 0: all
};

/// What `verify` has found.
struct audit_verdict {
  std::int64_t first = 0, last = 0; ///< seq of the oldest and newest entry; 0: there is none
  std::string head;                 ///< hash of the newest
  std::vector<std::string> faults;  ///< empty: the chain holds
};

/// The audit's database: one file, shared by every process of a user (WAL). The only place that
/// knows SQLite. Blocks; one thread uses it at a time.
/// Errors: errc::io for what the system refuses (full disk, read-only folder, a lock that another
/// process does not give up), errc::invalid_config for a file that is damaged, or no audit of ours;
/// such a file is never changed, replaced or removed.
class audit_store {
public:
  enum class mode : std::uint8_t {
    write, ///< made when missing, with its folders, for this user alone
    read,  ///< errc::not_found when missing
  };
  static result<std::unique_ptr<audit_store>> open(const std::string& path, mode how);
  ~audit_store();
  audit_store(const audit_store&) = delete;
  audit_store& operator=(const audit_store&) = delete;

  struct draft {
    audit_time time{};
    audit_record entry;
  };
  /// All of them or none, in this order.
  /// @param flush waits for the disk: they, and all before them, survive a loss of power, and not
  /// only the end of this program
  result<void> append(std::span<const draft> entries, bool flush = false);

  /// Where `open` put a `-wal` that stood beside no database; empty: there was none.
  [[nodiscard]] const std::string& put_aside() const;

  /// A file that it has open (the database, its `-wal` or `-shm`) does not stand at its path any
  /// more, or was cut: what is appended here would be found by nobody. True also after a `renew`
  /// that failed; then nothing else may be called. Four calls of the system.
  [[nodiscard]] bool is_moved() const;

  struct renewal {
    std::string what, next; ///< what happened to the files, and to what was recorded
    std::string put_aside;  ///< where a `-wal` was put that is not of this audit; empty: none
  };
  /// Saves what is known into the database that is open (unless that and its `-wal` still stand),
  /// closes it, and opens what stands at the path, the same one or another; a new one begins where
  /// none does.
  /// @pre is_moved()
  result<renewal> renew();

  /// Takes out the oldest entries beyond the limits, a step of some milliseconds at a time, so that
  /// whoever waits to write waits no longer; each step writes an entry that says so. The chain goes
  /// on from what was taken out. Above the size it is the oldest quarter.
  /// @return there is more to take out
  result<bool> prune(const audit_retention& keep, audit_time now);

  /// Oldest first. `take` returns false to stop.
  result<void> read(const audit_filter& which, const std::function<bool(const audit_entry&)>& take);

  /// Reads everything and computes the chain anew.
  /// @param known an entry ("SEQ:HASH") that was seen before and must still stand
  result<audit_verdict> verify(const std::string& known = {});

private:
  struct impl;
  explicit audit_store(std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

} // namespace gatehouse::actors
