#include "sandbox/path_names.hpp"

#include "policy/path_text.hpp"

#include <algorithm>
#include <climits>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

struct close_folder {
  void operator()(DIR* open) const { ::closedir(open); }
};

device_and_inode identity_of(const struct stat& about) {
  return {about.st_dev, about.st_ino};
}

} // namespace

path_names::stamp path_names::stamp_of(const std::string& folder) {
  struct stat about {};
  if (::stat(folder.c_str(), &about) != 0) return {};
  return {identity_of(about), about.st_ctim.tv_sec, about.st_ctim.tv_nsec};
}

path_names::contents path_names::read(const std::string& folder) {
  contents found;
  found.read_at[folder] = stamp_of(folder);
  const std::unique_ptr<DIR, close_folder> open{::opendir(folder.c_str())};
  if (!open) return found;
  const int at = ::dirfd(open.get());
  while (const auto* entry = ::readdir(open.get())) {
    struct stat about {};
    if (::fstatat(at, entry->d_name, &about, 0) != 0 || !S_ISREG(about.st_mode)) continue;
    found.names.emplace(identity_of(about), entry->d_name);
    found.files.emplace(entry->d_name, identity_of(about));
    if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN) continue;
    char target[PATH_MAX];
    const auto size = ::readlinkat(at, entry->d_name, target, sizeof target);
    if (size <= 0) continue;
    auto leads_to = std::string{policy::parent_of(
        policy::absolute_below(folder, {target, static_cast<std::size_t>(size)}))};
    if (!found.read_at.contains(leads_to)) found.read_at[leads_to] = stamp_of(leads_to);
  }
  return found;
}

namespace {

/// The absolute entries of a PATH, each folder once.
std::vector<std::string> folders_of(std::string_view path) {
  std::vector<std::string> folders;
  while (!path.empty()) {
    const auto entry = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(entry.size() + 1, path.size()));
    if (!entry.starts_with('/')) continue;
    auto folder = policy::lexically_normal(entry);
    if (std::ranges::find(folders, folder) == folders.end()) folders.push_back(std::move(folder));
  }
  return folders;
}

} // namespace

void path_names::look_again(std::string_view path) {
  const std::lock_guard lock{mutex_};
  for (const auto& folder : folders_of(path)) {
    auto& known = folders_[folder];
    const bool same =
        !known.read_at.empty() && std::ranges::all_of(known.read_at, [](const auto& seen) {
          return stamp_of(seen.first) == seen.second;
        });
    if (!same) known = read(folder);
  }
}

std::vector<std::string> path_names::names_of(std::string_view path, device_and_inode file) {
  const std::lock_guard lock{mutex_};
  std::vector<std::string> names;
  for (const auto& folder : folders_of(path)) {
    const auto known = folders_.find(folder);
    if (known == folders_.end()) continue;
    const auto [first, last] = known->second.names.equal_range(file);
    for (auto it = first; it != last; ++it)
      names.push_back(policy::absolute_below(folder, it->second));
  }
  return names;
}

std::vector<device_and_inode> path_names::files_called(std::string_view path,
                                                       std::string_view name) {
  const std::lock_guard lock{mutex_};
  std::vector<device_and_inode> files;
  for (const auto& folder : folders_of(path)) {
    const auto known = folders_.find(folder);
    if (known == folders_.end()) continue;
    const auto file = known->second.files.find(name);
    if (file != known->second.files.end() && std::ranges::find(files, file->second) == files.end())
      files.push_back(file->second);
  }
  return files;
}

} // namespace gatehouse::sandbox
