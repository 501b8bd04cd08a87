#include "sandbox/link_targets.hpp"

#include "policy/access.hpp"
#include "policy/path_text.hpp"
#include "sandbox/git_parts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

/// Of a git folder; its links among these lead to data, too.
constexpr std::array<std::string_view, 8> stored_parts{"objects", "refs", "logs",     "lfs",
                                                       "annex",   "svn",  "rr-cache", "HEAD"};

class link_search {
public:
  link_search(host_facts& facts, const std::set<std::string>& roots, const walk_limits& limits)
      : facts_{facts}, roots_{roots}, limits_{limits} {}

  void run() {
    for (const auto& place : facts_.protected_paths)
      add(place);
    while (!waiting_.empty() && !cut_) {
      at_ = std::move(waiting_.front());
      waiting_.pop_front();
      if (seen_.insert(at_.folder).second) list(at_.folder);
    }
  }

private:
  struct pending {
    std::string folder;
    std::string top; ///< protected itself
    std::string root;
  };

  void add(const protected_fact& place) {
    const auto& folder = place.found.canonical;
    // A link to a folder around the root protects nothing, and all would be walked.
    if (place.found.kind == path_kind::directory && !policy::is_at_or_below(place.root, folder))
      waiting_.push_back({folder, folder, place.root});
  }

  void list(const std::string& folder) {
    DIR* stream = ::opendir(folder.c_str());
    if (!stream) return;
    const int at = ::dirfd(stream);
    while (const dirent* entry = cut_ ? nullptr : ::readdir(stream)) {
      const std::string_view name{entry->d_name};
      if (name == "." || name == "..") continue;
      if (++entries_ > limits_.linked_entries) return cut(stream, folder);
      auto type = entry->d_type;
      if (struct stat status{};
          type == DT_UNKNOWN && ::fstatat(at, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        type = S_ISLNK(status.st_mode) ? DT_LNK : S_ISDIR(status.st_mode) ? DT_DIR : DT_REG;
      if ((type != DT_DIR && type != DT_LNK) || policy::holds_installed_packages(name)) continue;
      const bool stored =
          std::find(stored_parts.begin(), stored_parts.end(), name) != stored_parts.end();
      if (stored && ::faccessat(at, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0) continue;
      auto path = folder + "/" + std::string{name};
      if (type == DT_DIR)
        waiting_.push_back({std::move(path), at_.top, at_.root});
      else if (!follow(path))
        return cut(stream, folder);
    }
    ::closedir(stream);
  }

  /// @return false when there are too many links
  bool follow(const std::string& path) {
    protect(facts_, at_.root, path, "what `" + path + "` leads to", true);
    // What the folder holds itself is protected with it, and opened with it. A folder around the
    // root cannot be.
    const auto& target = facts_.protected_paths.back();
    const auto& way = target.found.links;
    const bool stays_inside = policy::is_at_or_below(target.path, at_.top) &&
                              std::all_of(way.begin(), way.end(), [&](const auto& link) {
                                return policy::is_at_or_below(link.first, at_.top);
                              });
    if (stays_inside || policy::is_at_or_below(at_.root, target.path)) {
      facts_.protected_paths.pop_back();
      return true;
    }
    if (std::any_of(roots_.begin(), roots_.end(), [&](const std::string& root) {
          return policy::is_at_or_below(target.path, root);
        }))
      add(target);
    return ++links_ <= limits_.nested_names;
  }

  void cut(DIR* stream, const std::string& folder) {
    ::closedir(stream);
    cut_ = true;
    facts_.warnings.push_back("the links in `" + folder +
                              "` and in further protected folders were not all followed; what they "
                              "lead to is not protected unless an entry names it");
  }

  host_facts& facts_;
  const std::set<std::string>& roots_;
  const walk_limits& limits_;
  std::deque<pending> waiting_;
  pending at_;
  std::set<std::string> seen_;
  std::size_t entries_ = 0;
  std::size_t links_ = 0;
  bool cut_ = false;
};

} // namespace

void find_link_targets(host_facts& facts, const std::set<std::string>& roots,
                       const walk_limits& limits) {
  link_search{facts, roots, limits}.run();
}

} // namespace gatehouse::sandbox
