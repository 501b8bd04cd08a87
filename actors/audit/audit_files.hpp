#pragma once

#include "protocol/result.hpp"

#include <cstdint>
#include <string>

#include <sys/types.h>

namespace gatehouse::actors {

/// What a path named when it was looked at.
struct file_seen {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t bytes = -1; ///< -1: nothing stands there

  /// The same file, however long it is by now; or nothing, both.
  [[nodiscard]] bool same(const file_seen& other) const {
    return device == other.device && inode == other.inode && (bytes < 0) == (other.bytes < 0);
  }
};

/// The files of one database: SQLite keeps its newest entries in the `-wal`, and in the `-shm`
/// where they stand there, shared by all programs that have it open.
struct audit_files {
  file_seen database, wal, shm;

  [[nodiscard]] bool same(const audit_files& other) const {
    return database.same(other.database) && wal.same(other.wal) && shm.same(other.shm);
  }
};

/// Those of the database at `path`, as they stand now.
audit_files look_at_audit(const std::string& path);

/// Makes an empty file for this user alone, with its folders, unless another program comes first.
/// SQLite would throw away a `-wal` that stands beside an empty database, and join the `-shm` of
/// programs that still have an older one open: both are taken away first, a `-wal` that holds
/// something to "…-wal.left" (or ".left2", …).
/// @return where a `-wal` was put; empty: there was none. errc::io.
result<std::string> begin_audit_file(const std::string& path);

/// Before an audit is opened again whose files were not as `before` any more. Where no program has
/// it open, takes away what would be read as its own: a `-shm`, and a `-wal` that is not of it.
/// @pre this program has it not open
/// @return as of begin_audit_file
result<std::string> clear_beside_audit(const std::string& path, const audit_files& before);

} // namespace gatehouse::actors
