#include "config/trust.hpp"

#include "config/text_file.hpp"
#include "config/toml_reader.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <sys/stat.h>

namespace gatehouse::config {
namespace {

/// Empty when the path leads nowhere.
std::string real_path(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (!resolved) return {};
  std::string text{resolved};
  std::free(resolved);
  return text;
}

bool exists(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0;
}

std::string join(const std::string& folder, const char* name) {
  return (folder == "/" ? "" : folder) + "/" + name;
}

} // namespace

result<project> find_project(const locations& where, const std::string& cwd) {
  project found;
  found.root = real_path(cwd);
  if (found.root.empty())
    return error{errc::not_found,
                 "the folder " + cwd + " cannot be resolved: " + std::strerror(errno),
                 "Start in a folder that exists."};
  const auto own_home = real_path(where.gatehouse_home);
  for (std::string folder = found.root;;) {
    const auto config = join(folder, ".gatehouse");
    const bool is_own_home =
        config == where.gatehouse_home || (!own_home.empty() && real_path(config) == own_home);
    if (exists(join(folder, ".git")) || (exists(config) && !is_own_home)) {
      found.root = folder;
      found.has_folder = exists(config) && !is_own_home;
      break;
    }
    if (folder == "/") break;
    folder.resize(std::max<std::size_t>(folder.find_last_of('/'), 1));
  }
  found.folder = join(found.root, ".gatehouse");

  const auto file = where.gatehouse_home + "/trust.toml";
  const auto text = read_text_file(file);
  if (!text) return text.error();
  if (!*text) return found;
  const auto root = parse_toml(**text, file);
  if (!root) return root.error();
  toml_reader reader{layer::user, file, where.user_home};
  for (const auto& entry : reader.strings(*root, "trusted")) {
    if (!entry.value.starts_with('/')) {
      reader.fail(*find(*root, "trusted"), "`" + entry.value + "` in trusted is not absolute",
                  "Write the project's root from `/`.");
      continue;
    }
    found.trusted |= real_path(entry.value) == found.root;
  }
  reader.warn_unknown(*root, "", {"trusted"});
  if (reader.failure) return *reader.failure;
  found.warnings = std::move(reader.warnings);
  return found;
}

} // namespace gatehouse::config
