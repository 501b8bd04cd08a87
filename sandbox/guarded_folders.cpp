#include "sandbox/guarded_folders.hpp"

#include "policy/path_text.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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
  if (fstatat(at.folder.get(), at.name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISDIR(st.st_mode))
    return;
  if (own_.size() < most_own_folders) own_.emplace(st.st_dev, st.st_ino);
  for (auto& path : paths_of(at, at.name))
    if (std::any_of(guards_.begin(), guards_.end(), [&](const creation_guard& guard) {
          return !guard.is_glob && policy::is_below(guard.path, path);
        }))
      folders_.push_back({std::move(path), st.st_dev, st.st_ino});
}

void guarded_folders::forget_own(const place& at) {
  struct stat st {};
  if (own_.empty() || fstat(at.object.get(), &st) != 0) return;
  if (own_.erase({st.st_dev, st.st_ino}) == 0) return;
  std::erase_if(folders_,
                [&](const folder& f) { return f.device == st.st_dev && f.inode == st.st_ino; });
}

std::vector<std::string> guarded_folders::paths_of(const place& beside,
                                                   const std::string& name) const {
  const auto path_in = [&](const std::string& where) {
    return (where == "/" ? "" : where) + "/" + name;
  };
  std::vector<std::string> paths{path_in(beside.folder_path)};
  struct stat st {};
  if (fstat(beside.folder.get(), &st) != 0) return paths;
  for (const auto& f : folders_)
    if (f.device == st.st_dev && f.inode == st.st_ino && f.path != beside.folder_path)
      paths.push_back(path_in(f.path));
  return paths;
}

const creation_guard* guarded_folders::find(const place& at, guarded_operation operation) const {
  struct stat st {};
  const bool own = fstat(at.folder.get(), &st) == 0 && is_own(st);
  return find(at, at.name, operation, own);
}

const creation_guard* guarded_folders::find_bare_repository(const place& at) const {
  constexpr const char* parts[] = {"HEAD", "objects", "refs"};
  bool is_part = false;
  for (const char* part : parts) {
    if (at.name == part)
      is_part = true;
    else if (faccessat(at.folder.get(), part, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
      return nullptr;
  }
  struct stat st {};
  const bool own = fstat(at.folder.get(), &st) == 0 && is_own(st);
  return is_part ? find(at, ".git", guarded_operation::make_directory, own) : nullptr;
}

const creation_guard* guarded_folders::find_waived(const place& at,
                                                   guarded_operation operation) const {
  const auto* guard = find(at, at.name, operation, false);
  return guard && !find(at, at.name, operation, true) ? guard : nullptr;
}

const creation_guard* guarded_folders::find(const place& beside, const std::string& name,
                                            guarded_operation operation, bool in_own_folder) const {
  for (const auto& path : paths_of(beside, name))
    if (const auto* guard = find_guard(guards_, path, operation, in_own_folder)) return guard;
  return nullptr;
}

} // namespace gatehouse::sandbox
