#include "actors/audit/audit_store_state.hpp"

#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

/// An audit whose files are moved or removed while it is open: its part of audit_store.hpp.
namespace gatehouse::actors {

void audit_store::impl::remember_files() {
  files = look_at_audit(path);
  constexpr int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  database_open.emplace(::open(path.c_str(), flags));
  shm_open.emplace(::open((path + "-shm").c_str(), flags));
}

/// To read what it no longer holds would end this program (SIGBUS).
bool audit_store::impl::shm_is_cut() const {
  struct stat about {};
  return shm_open && ::fstat(shm_open->get(), &about) == 0 && about.st_size < files.shm.bytes;
}

const std::string& audit_store::put_aside() const {
  return impl_->left.put_aside;
}

bool audit_store::is_moved() const {
  const auto& s = *impl_;
  return s.db == nullptr || !look_at_audit(s.path).same(s.files) || s.shm_is_cut();
}

/// Into the database that is open, wherever it stands by now.
/// @return why it could not be; empty: all of it is there
std::string audit_store::impl::save(const audit_files& now) {
  // A -wal that stands tells all of itself. Others may write it already by a -shm that is new;
  // emptied by the old one it would lose that.
  if (now.database.same(files.database) && now.wal.same(files.wal)) return {};
  if (shm_is_cut()) return "its -shm file was cut";
  int in_wal = 0;
  int copied = 0;
  const int code =
      sqlite3_wal_checkpoint_v2(db, nullptr, SQLITE_CHECKPOINT_TRUNCATE, &in_wal, &copied);
  if (code == SQLITE_OK || ((code & 0xff) == SQLITE_BUSY && in_wal >= 0 && in_wal == copied))
    return {};
  return sqlite3_errmsg(db);
}

void audit_store::impl::leave() {
  const auto now = look_at_audit(path);
  struct stat about {};
  const bool removed =
      database_open && ::fstat(database_open->get(), &about) == 0 && about.st_nlink == 0;
  const auto why_not = save(now);
  close();
  const auto unsaved = "What stood only in its -wal file could not be saved: " + why_not + ".";
  if (now.database.same(files.database)) {
    left.what = "files beside the audit " + path + " (-wal, -shm) were moved, removed or changed";
    left.next =
        why_not.empty() ? "It goes on; everything that was recorded stands in it." : unsaved;
    return;
  }
  left.what = "the audit " + path + " was moved or removed; " +
              (now.database.bytes < 0 ? "a new one begins" : "the file that stands there goes on");
  if (removed)
    left.next = "What it knew is gone with it.";
  else
    left.next = why_not.empty() ? "What it knew stands in the file that was moved." : unsaved;
}

result<audit_store::renewal> audit_store::renew() {
  auto& s = *impl_;
  // Wholly closed before anything is opened: two databases, one after the other at the same path,
  // share the -shm that stands there, and the end of one would end the locks of the other.
  if (s.db != nullptr) s.leave();
  if (!s.cleared) { // once: later on others may have begun
    auto put = clear_beside_audit(s.path, s.files);
    if (!put) return put.error();
    s.left.put_aside = *std::move(put);
    s.cleared = true;
  }
  auto anew = open(s.path, mode::write);
  if (!anew) return anew.error();
  auto told = std::move(s.left);
  impl_ = std::move((*anew)->impl_);
  if (!impl_->left.put_aside.empty()) told.put_aside = std::move(impl_->left.put_aside);
  return told;
}

} // namespace gatehouse::actors
