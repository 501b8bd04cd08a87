#include "sandbox/nested_names.hpp"

#include "policy/access.hpp"
#include "sandbox/git_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <sys/stat.h>

namespace gatehouse::sandbox {
namespace {

bool name_exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

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
                             wanted[name.size()] == '/' && name_exists(at.folder + "/" + wanted)))
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
