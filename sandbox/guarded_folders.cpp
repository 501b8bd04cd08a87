#include "sandbox/guarded_folders.hpp"

#include <algorithm>
#include <cstddef>

#include <fcntl.h>
#include <sys/stat.h>

namespace gatehouse::sandbox {
namespace {

constexpr std::size_t most_own_folders = 100'000;

} // namespace

guarded_folders::guarded_folders(std::span<const creation_guard> guards) : guards_{guards} {
  for (const auto& guard : guards) {
    const bool known = std::any_of(folders_.begin(), folders_.end(),
                                   [&](const folder& f) { return f.path == guard.directory; });
    struct stat st {};
    if (!known && stat(guard.directory.c_str(), &st) == 0)
      folders_.push_back({guard.directory, st.st_dev, st.st_ino});
  }
}

bool guarded_folders::is_own(const struct stat& status) const {
  return own_.contains({status.st_dev, status.st_ino});
}

void guarded_folders::add_own(const place& at) {
  struct stat st {};
  if (own_.size() < most_own_folders &&
      fstatat(at.folder.get(), at.name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(st.st_mode))
    own_.emplace(st.st_dev, st.st_ino);
}

void guarded_folders::forget_own(const place& at) {
  struct stat st {};
  if (!own_.empty() && fstat(at.object.get(), &st) == 0) own_.erase({st.st_dev, st.st_ino});
}

const creation_guard* guarded_folders::find(const place& at, guarded_operation operation) const {
  struct stat st {};
  const bool own = fstat(at.folder.get(), &st) == 0 && is_own(st);
  return find(at, operation, own);
}

const creation_guard* guarded_folders::find_waived(const place& at,
                                                   guarded_operation operation) const {
  const auto* guard = find(at, operation, false);
  return guard && !find(at, operation, true) ? guard : nullptr;
}

const creation_guard* guarded_folders::find(const place& at, guarded_operation operation,
                                            bool in_own_folder) const {
  if (const auto* guard = find_guard(guards_, at.path(), operation, in_own_folder)) return guard;
  struct stat st {};
  if (fstat(at.folder.get(), &st) != 0) return nullptr;
  for (const auto& f : folders_) {
    if (f.device != st.st_dev || f.inode != st.st_ino || f.path == at.folder_path) continue;
    if (const auto* guard = find_guard(guards_, f.path + "/" + at.name, operation, in_own_folder))
      return guard;
  }
  return nullptr;
}

} // namespace gatehouse::sandbox
