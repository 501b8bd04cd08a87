#include "sandbox/find_repositories.hpp"

#include "policy/path_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

constexpr std::size_t max_text = 64 * 1024; // of a pointer file or a configuration

/// Folders that hold so many entries and so rarely a repository that they would use up the bound.
constexpr std::array<std::string_view, 2> skipped_folders{"node_modules", "__pycache__"};

/// Parts of a repository that make git execute or obey something.
constexpr std::array<std::string_view, 5> executed_parts{"config", "config.worktree", "hooks",
                                                         "info", "commondir"};

std::optional<std::string> read_small_file(const std::string& path) {
  // Not blocking: the name may be a FIFO.
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status {};
  std::string text;
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    text.resize(max_text);
    const auto size = ::read(file, text.data(), text.size());
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  }
  ::close(file);
  return text;
}

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\r\n");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r\n") - from + 1);
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

/// `path` may hold `..` and links: what it really is counts.
void protect(host_facts& facts, const std::string& root, std::string_view path, std::string why,
             bool named_elsewhere) {
  auto found = look_at(path);
  auto real = found.canonical;
  facts.protected_paths.push_back(
      {std::move(real), root, std::move(found), std::move(why), named_elsewhere});
}

/// `path` below `folder` unless absolute, dots left for the kernel's way of resolving them.
std::string from_folder(const std::string& folder, std::string_view path) {
  return path.starts_with('/') ? std::string{path} : folder + "/" + std::string{path};
}

/// `hooksPath = …` of [core]; relative to the work tree. Includes are not followed: they lie in
/// protected files or outside.
std::optional<std::string> hooks_path(std::string_view config) {
  bool in_core = false;
  std::optional<std::string> found;
  for (std::size_t at = 0; at < config.size();) {
    const auto end = std::min(config.find('\n', at), config.size());
    const auto line = trimmed(config.substr(at, end - at));
    at = end + 1;
    const auto equals = line.find('=');
    std::string key{trimmed(line.substr(0, std::min(equals, line.find(']'))))};
    std::transform(key.begin(), key.end(), key.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (line.starts_with('[')) in_core = key == "[core";
    if (!in_core || key != "hookspath" || equals == std::string_view::npos) continue;
    auto value = trimmed(line.substr(equals + 1));
    if (value.size() > 1 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    found = value;
  }
  return found;
}

bool is_git_folder(const std::string& folder) {
  return exists(folder + "/HEAD") && exists(folder + "/objects") && exists(folder + "/refs");
}

void follow_pointer_file(host_facts& facts, const std::string& root, const std::string& folder,
                         std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || trimmed(text.substr(0, colon)) != "gitdir") return;
  const auto target = trimmed(text.substr(colon + 1));
  if (target.empty()) return;
  const auto git_folder = look_at(from_folder(folder, target)).canonical;
  const auto why = "git folder of `" + folder + "`";
  const auto text_of_common = read_small_file(git_folder + "/commondir");
  if (text_of_common && !trimmed(*text_of_common).empty()) {
    const auto common = look_at(from_folder(git_folder, trimmed(*text_of_common))).canonical;
    protect(facts, root, common, why, true);
    // One place for both, so that one entry opens it.
    if (policy::is_at_or_below(git_folder, common)) return;
  }
  protect(facts, root, git_folder, why, true);
}

} // namespace

void find_git_parts(host_facts& facts, const std::string& root, const std::string& folder) {
  const std::string base = folder == "/" ? "" : folder;
  struct stat status {};
  const bool has_git = ::lstat((base + "/.git").c_str(), &status) == 0;
  if (has_git && S_ISREG(status.st_mode)) {
    if (const auto text = read_small_file(base + "/.git"))
      follow_pointer_file(facts, root, folder, *text);
  } else if (has_git) {
    if (const auto config = read_small_file(base + "/.git/config"))
      if (const auto hooks = hooks_path(*config); hooks && !hooks->starts_with('~'))
        protect(facts, root, from_folder(folder, *hooks), "hooks of `" + folder + "/.git`", false);
  }
  if (!is_git_folder(folder)) return;
  for (const auto part : executed_parts)
    protect(facts, root, base + "/" + std::string{part},
            std::string{part} + " of the bare repository `" + folder + "`", false);
}

void find_nested_repositories(host_facts& facts, const std::set<std::string>& roots,
                              const walk_limits& limits) {
  struct waiting {
    std::string folder;
    std::string root;
    std::size_t depth;
  };
  std::deque<waiting> queue;
  for (const auto& root : roots)
    queue.push_back({root, root, 0});
  std::size_t seen = 0;
  while (!queue.empty()) {
    const auto [folder, root, depth] = std::move(queue.front());
    queue.pop_front();
    DIR* stream = ::opendir(folder.c_str());
    if (!stream) continue;
    bool has_head = false;
    bool has_git = false;
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view name{entry->d_name};
      if (name == "." || name == "..") continue;
      if (++seen > limits.repository_entries) break;
      has_head = has_head || name == "HEAD";
      has_git = has_git || name == ".git";
      if (name == ".git" || entry->d_type != DT_DIR || depth >= limits.repository_depth ||
          std::find(skipped_folders.begin(), skipped_folders.end(), name) != skipped_folders.end())
        continue;
      std::string below = folder + "/" + std::string{name};
      // Another root looks after itself; what is protected by name is not writable anyway.
      if (!roots.contains(below)) queue.push_back({std::move(below), root, depth + 1});
    }
    ::closedir(stream);
    if (depth > 0 && has_git) {
      // The folder is kept in its place too: a doctored copy could take it otherwise.
      protect(facts, root, folder + "/.git", "nested repository `" + folder + "`", true);
      find_git_parts(facts, root, folder);
    } else if (depth > 0 && has_head) {
      find_git_parts(facts, root, folder);
    }
    if (seen > limits.repository_entries) {
      facts.warnings.push_back("only the first " + std::to_string(limits.repository_entries) +
                               " entries were searched for nested repositories; `.git` folders "
                               "deeper below `" +
                               root + "` are not protected unless an entry names them");
      return;
    }
  }
}

} // namespace gatehouse::sandbox
