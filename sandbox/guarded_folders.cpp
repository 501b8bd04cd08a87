#include "sandbox/guarded_folders.hpp"

#include <algorithm>

#include <sys/stat.h>

namespace gatehouse::sandbox {

guarded_folders::guarded_folders(std::span<const creation_guard> guards) : guards_{guards} {
  for (const auto& guard : guards) {
    const bool known = std::any_of(folders_.begin(), folders_.end(),
                                   [&](const folder& f) { return f.path == guard.directory; });
    struct stat st {};
    if (!known && stat(guard.directory.c_str(), &st) == 0)
      folders_.push_back({guard.directory, st.st_dev, st.st_ino});
  }
}

const creation_guard* guarded_folders::find(const place& at, guarded_operation operation) const {
  if (const auto* guard = find_guard(guards_, at.path(), operation)) return guard;
  struct stat st {};
  if (fstat(at.folder.get(), &st) != 0) return nullptr;
  for (const auto& f : folders_) {
    if (f.device != st.st_dev || f.inode != st.st_ino || f.path == at.folder_path) continue;
    if (const auto* guard = find_guard(guards_, f.path + "/" + at.name, operation)) return guard;
  }
  return nullptr;
}

} // namespace gatehouse::sandbox
