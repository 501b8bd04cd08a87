#include "sandbox/find_repositories.hpp"

#include "policy/access.hpp"
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

std::string lower(std::string_view text) {
  std::string low{text};
  std::transform(low.begin(), low.end(), low.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return low;
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

/// What a configuration of git leads to.
struct configured_paths {
  std::optional<std::string> hooks; ///< `hooksPath` of [core]; relative to the work tree
  std::vector<std::string>
      included; ///< `path` of [include] and [includeIf], whatever its condition
};

configured_paths paths_in(std::string_view config) {
  std::string section;
  configured_paths found;
  for (std::size_t at = 0; at < config.size();) {
    const auto end = std::min(config.find('\n', at), config.size());
    auto line = trimmed(config.substr(at, end - at));
    at = end + 1;
    if (line.starts_with('[')) {
      const auto close = line.find(']');
      section = lower(line.substr(1, std::min(line.find_first_of(" \t]\""), close) - 1));
      line = close == std::string_view::npos ? line.substr(line.size())
                                             : trimmed(line.substr(close + 1));
    }
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const auto key = lower(trimmed(line.substr(0, equals)));
    auto value = trimmed(line.substr(equals + 1));
    if (value.size() > 1 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    if (value.empty() || value.starts_with('~')) continue; // the home folder's are the user's own
    if (section == "core" && key == "hookspath") found.hooks = value;
    if ((section == "include" || section == "includeif") && key == "path")
      found.included.emplace_back(value);
  }
  return found;
}

bool is_git_folder(const std::string& folder) {
  return exists(folder + "/HEAD") && exists(folder + "/objects") && exists(folder + "/refs");
}

/// What the text of a `.git` file in `folder` names, canonical; empty when it names nothing.
std::string pointer_target(const std::string& folder, std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || trimmed(text.substr(0, colon)) != "gitdir") return {};
  const auto target = trimmed(text.substr(colon + 1));
  return target.empty() ? std::string{} : look_at(from_folder(folder, target)).canonical;
}

/// Protects the hooks that a configuration names, and the files that it includes, with what these
/// name in turn. `files_left`: how many more are read.
void follow_configuration(host_facts& facts, const std::string& root, const std::string& work_tree,
                          const std::string& file, int& files_left) {
  if (files_left-- <= 0) {
    facts.warnings.push_back("the configuration of `" + work_tree +
                             "/.git` includes too many files; `" + file + "` is not protected");
    return;
  }
  const auto config = read_small_file(file);
  if (!config) return;
  const auto named = paths_in(*config);
  if (named.hooks)
    protect(facts, root, from_folder(work_tree, *named.hooks), "hooks of `" + work_tree + "/.git`",
            true);
  for (const auto& path : named.included) {
    const auto included = from_folder(std::string{policy::parent_of(file)}, path);
    protect(facts, root, included, "included by `" + file + "`", true);
    follow_configuration(facts, root, work_tree, included, files_left);
  }
}

constexpr int most_configurations = 100; // of one repository; a file may include itself

void follow_pointer_file(host_facts& facts, const std::string& root, const std::string& folder,
                         std::string_view text) {
  const auto git_folder = pointer_target(folder, text);
  if (git_folder.empty()) return;
  const auto why = "git folder of `" + folder + "`";
  const auto text_of_common = read_small_file(git_folder + "/commondir");
  if (text_of_common && !trimmed(*text_of_common).empty()) {
    const auto common = look_at(from_folder(git_folder, trimmed(*text_of_common))).canonical;
    protect(facts, root, common, why, true);
    int files_left = most_configurations;
    follow_configuration(facts, root, folder, common + "/config", files_left);
    // One place for both, so that one entry opens it.
    if (policy::is_at_or_below(git_folder, common)) return;
  }
  protect(facts, root, git_folder, why, true);
}

} // namespace

std::vector<std::string> git_folders_of(const std::string& work_tree) {
  const auto root = look_at(work_tree).canonical;
  const auto fact = look_at(root + "/.git");
  if (fact.kind == path_kind::directory) return {fact.canonical};
  const auto text = read_small_file(fact.canonical);
  const auto git_folder = text ? pointer_target(root, *text) : std::string{};
  if (git_folder.empty() || look_at(git_folder).kind != path_kind::directory) return {};
  // The file came with the work tree, maybe from a stranger: what it names must know of it.
  constexpr std::string_view modules = "/.git/modules/";
  if (const auto at = git_folder.find(modules); at != std::string::npos)
    return policy::is_at_or_below(root, git_folder.substr(0, at))
               ? std::vector<std::string>{git_folder}
               : std::vector<std::string>{};
  const auto back = read_small_file(git_folder + "/gitdir");
  const std::string all{policy::parent_of(git_folder)};
  const std::string common{policy::parent_of(all)};
  if (!back || look_at(from_folder(git_folder, trimmed(*back))).canonical != fact.canonical ||
      policy::name_of(all) != "worktrees" || !is_git_folder(common))
    return {};
  return {common};
}

void find_git_parts(host_facts& facts, const std::string& root, const std::string& folder) {
  const std::string base = folder == "/" ? "" : folder;
  struct stat status {};
  const bool has_git = ::lstat((base + "/.git").c_str(), &status) == 0;
  if (has_git && S_ISREG(status.st_mode)) {
    if (const auto text = read_small_file(base + "/.git"))
      follow_pointer_file(facts, root, folder, *text);
  } else if (has_git) {
    int files_left = most_configurations;
    follow_configuration(facts, root, folder, base + "/.git/config", files_left);
  }
  if (!is_git_folder(folder)) return;
  for (const auto part : executed_parts)
    protect(facts, root, base + "/" + std::string{part},
            std::string{part} + " of the bare repository `" + folder + "`", false);
}

namespace {

/// One walk over the folders below the writable roots.
class nested_walk {
public:
  nested_walk(host_facts& facts, const std::set<std::string>& roots,
              const std::vector<std::string>& names, const walk_limits& limits)
      : facts_{facts}, roots_{roots}, names_{names}, limits_{limits} {}

  void run() {
    for (const auto& root : roots_)
      queue_.push_back({root, root, 0});
    while (!queue_.empty()) {
      const auto next = std::move(queue_.front());
      queue_.pop_front();
      list(next);
      if (entries_ <= limits_.repository_entries && found_ <= limits_.nested_names) continue;
      const bool too_many_entries = entries_ > limits_.repository_entries;
      facts_.warnings.push_back(
          (too_many_entries ? "only the first " + std::to_string(limits_.repository_entries) +
                                  " entries were searched"
                            : "only the first " + std::to_string(limits_.nested_names) +
                                  " protected names are guarded") +
          "; repositories and protected names deeper below `" + next.root +
          "` that exist already are not protected unless an entry names them");
      return;
    }
  }

private:
  struct waiting {
    std::string folder;
    std::string root;
    std::size_t depth;
  };

  void list(const waiting& at) {
    DIR* stream = ::opendir(at.folder.c_str());
    if (!stream) return;
    bool has_head = false;
    bool has_git = false;
    std::vector<std::string> here;
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view name{entry->d_name};
      if (name == "." || name == "..") continue;
      if (++entries_ > limits_.repository_entries) break;
      has_head = has_head || name == "HEAD";
      has_git = has_git || name == ".git";
      const bool is_folder = entry->d_type == DT_DIR;
      // The names directly below a root are looked at one by one.
      if (at.depth > 0 && name != ".git") note(at, name, here);
      if (name == ".git" || !is_folder || policy::holds_installed_packages(name) ||
          (name == "objects" && at.folder.ends_with("/.git")) ||
          std::find(names_.begin(), names_.end(), name) != names_.end())
        continue;
      std::string below = at.folder + "/" + std::string{name};
      // Another root looks after itself; what is protected by name is not writable anyway.
      if (!roots_.contains(below)) queue_.push_back({std::move(below), at.root, at.depth + 1});
    }
    ::closedir(stream);
    for (const auto& name : here)
      if (++found_ <= limits_.nested_names)
        // Files of other worktrees name these two places: the folders around them stay, too.
        protect(facts_, at.root, at.folder + "/" + name, "protected name `" + name + "`",
                name == "commondir" || name == "config.worktree");
    if (at.depth > 0 && has_git) {
      // The folder is kept in its place too: a doctored copy could take it otherwise.
      protect(facts_, at.root, at.folder + "/.git", "nested repository `" + at.folder + "`", true);
      find_git_parts(facts_, at.root, at.folder);
    } else if (at.depth > 0 && has_head) {
      find_git_parts(facts_, at.root, at.folder);
    }
  }

  /// Adds the protected names that the entry `name` is the first part of, where they exist.
  void note(const waiting& at, std::string_view name, std::vector<std::string>& here) const {
    for (const auto& wanted : names_)
      if (wanted == name || (wanted.starts_with(name) && wanted.size() > name.size() &&
                             wanted[name.size()] == '/' && exists(at.folder + "/" + wanted)))
        here.push_back(wanted);
  }

  host_facts& facts_;
  const std::set<std::string>& roots_;
  const std::vector<std::string>& names_;
  const walk_limits& limits_;
  std::deque<waiting> queue_;
  std::size_t entries_ = 0;
  std::size_t found_ = 0;
};

} // namespace

void find_nested_names(host_facts& facts, const std::set<std::string>& roots,
                       const std::vector<std::string>& protected_names, const walk_limits& limits) {
  nested_walk{facts, roots, protected_names, limits}.run();
}

} // namespace gatehouse::sandbox
