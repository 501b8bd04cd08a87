#include "actors/real_places.hpp"

#include "protocol/visible_text.hpp"
#include "sandbox/host_paths.hpp"

#include <utility>
#include <variant>

#include <sys/stat.h>

namespace gatehouse::actors {

std::string real_path_of(const std::string& path) {
  return path.starts_with('/') ? sandbox::look_at(path).canonical : path;
}

real_folders really(const std::vector<std::string>& paths) {
  real_folders found;
  for (const auto& path : paths)
    found.emplace(path, real_path_of(path));
  return found;
}

std::optional<std::string> moved_folder(const real_folders& then) {
  for (const auto& [path, real] : then)
    if (real_path_of(path) != real)
      return "the folder " + visible_text(path) +
             " leads elsewhere than when the session began; look who moved it, and begin a new "
             "session";
  return std::nullopt;
}

additional_permissions with_real_paths(additional_permissions wish) {
  for (auto& entry : wish.entries)
    if (auto* literal = std::get_if<literal_path>(&entry.path))
      literal->path = real_path_of(literal->path);
  return wish;
}

std::optional<std::string> moved_entry(const additional_permissions& granted) {
  for (const auto& entry : granted.entries)
    if (const auto* literal = std::get_if<literal_path>(&entry.path))
      if (const auto real = real_path_of(literal->path); real != literal->path)
        return std::string{to_string(entry.access)} + " " + visible_text(literal->path) +
               ", which leads to " + visible_text(real) + " now";
  return std::nullopt;
}

std::string folder_key(const std::string& path) {
  struct stat now {};
  auto text = real_path_of(path);
  if (::stat(text.c_str(), &now) == 0 && S_ISDIR(now.st_mode))
    text += " " + std::to_string(now.st_dev) + ":" + std::to_string(now.st_ino);
  return text;
}

} // namespace gatehouse::actors
