#include "actors/folder_identity.hpp"

#include "protocol/visible_text.hpp"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include <sys/stat.h>

namespace gatehouse::actors {

folder_identity identity_of(const std::string& path) {
  folder_identity found;
  found.path = path;
  const std::unique_ptr<char, decltype(&std::free)> real{::realpath(path.c_str(), nullptr),
                                                         &std::free};
  if (!real) return found;
  found.real_path = real.get();
  struct stat now {};
  if (::stat(real.get(), &now) == 0 && S_ISDIR(now.st_mode)) {
    found.device = now.st_dev;
    found.inode = now.st_ino;
  }
  return found;
}

folder_identity pin_folder(const std::string& path) {
  auto found = identity_of(path);
  if (found.real_path.empty()) {
    std::error_code unreadable;
    found.real_path = std::filesystem::weakly_canonical(path, unreadable).string();
  }
  return found;
}

std::optional<std::string> replaced_folder(const std::vector<folder_identity>& pinned) {
  for (const auto& then : pinned) {
    const auto now = pin_folder(then.path);
    const bool made_since = then.inode == 0 && then.real_path == now.real_path;
    if (now == then || made_since) continue;
    return "the folder " + visible_text(then.path) +
           " is another one than when this session was opened" +
           (now.real_path == then.real_path ? "" : ": it leads to " + visible_text(now.real_path));
  }
  return std::nullopt;
}

} // namespace gatehouse::actors
