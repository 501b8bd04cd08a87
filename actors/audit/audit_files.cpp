#include "actors/audit/audit_files.hpp"

#include "config/private_file.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::actors {
namespace {

constexpr int tries_for_lock = 200;
constexpr std::chrono::milliseconds between_tries{5};
constexpr int most_left = 1000;
// Where SQLite's programs lock a database that they have open (its file format, "lock bytes").
constexpr off_t lock_of_users = 0x40000002;
constexpr off_t lock_of_users_bytes = 510;

error cannot(const std::string& what, const std::string& path) {
  return {errc::io, "cannot " + what + " " + path + ": " + std::strerror(errno),
          "Check the folder's owner, mode and free space."};
}

file_seen look_at(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) return {};
  return {about.st_dev, about.st_ino, about.st_size};
}

template <class F>
bool try_for_a_while(F&& once) {
  for (int i = 0; i < tries_for_lock; ++i) {
    if (once()) return true;
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) return false;
    std::this_thread::sleep_for(between_tries);
  }
  return false;
}

result<void> take_away(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return cannot("remove", path);
}

/// Nothing that holds something is removed.
result<std::string> put_aside(const std::string& wal) {
  const auto stands = look_at(wal);
  if (stands.bytes < 0) return std::string{};
  if (stands.bytes == 0) {
    const auto gone = take_away(wal);
    return gone ? result<std::string>{std::string{}} : gone.error();
  }
  for (int i = 1; i <= most_left; ++i) {
    const auto to = wal + ".left" + (i == 1 ? "" : std::to_string(i));
    if (::link(wal.c_str(), to.c_str()) == 0) {
      if (auto gone = take_away(wal); !gone) return gone.error();
      return to;
    }
    if (errno != EEXIST) break;
  }
  return cannot("put aside", wal);
}

} // namespace

audit_files look_at_audit(const std::string& path) {
  return {look_at(path), look_at(path + "-wal"), look_at(path + "-shm")};
}

result<std::string> begin_audit_file(const std::string& path) {
  if (const auto made = config::make_folders_above(path); !made) return made.error();
  const auto folder = path.substr(0, path.rfind('/') + 1);
  const config::descriptor turn{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (turn.get() < 0) return cannot("open", folder);
  // The file stands only when what was beside it is away: who finds it may open it.
  if (!try_for_a_while([&] { return ::flock(turn.get(), LOCK_EX | LOCK_NB) == 0; }))
    return cannot("lock", folder);
  if (look_at(path).bytes >= 0) return std::string{};
  auto left = put_aside(path + "-wal");
  if (!left) return left;
  if (const auto gone = take_away(path + "-shm"); !gone) return gone.error();
  // SQLite gives the files beside it the same mode.
  const config::descriptor made{
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (made.get() < 0) return cannot("create the audit", path);
  return left;
}

result<std::string> clear_beside_audit(const std::string& path, const audit_files& before) {
  const config::descriptor file{::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC)};
  if (file.get() < 0) return std::string{}; // opening it will tell why
  struct flock users {};
  users.l_type = F_WRLCK;
  users.l_whence = SEEK_SET;
  users.l_start = lock_of_users;
  users.l_len = lock_of_users_bytes;
  // What programs have open that came before us is theirs, and right by now.
  if (!try_for_a_while([&] { return ::fcntl(file.get(), F_OFD_SETLK, &users) == 0; }))
    return std::string{};
  const auto now = look_at_audit(path);
  const bool in_place = now.database.same(before.database);
  const bool ours = now.wal.same(before.wal);
  std::string left;
  if (in_place != ours) {
    auto put = put_aside(path + "-wal");
    if (!put) return put;
    left = *std::move(put);
  }
  if (const auto gone = take_away(path + "-shm"); !gone) return gone.error();
  return left;
}

} // namespace gatehouse::actors
