#include "sandbox/walk_globs.hpp"

#include "policy/glob.hpp"
#include "policy/path_text.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

class glob_walk {
public:
  glob_walk(host_facts& facts, const policy::path_glob& glob, std::string pattern,
            std::optional<std::uint32_t> depth, const walk_limits& limits, std::size_t& entries)
      : facts_{facts}, glob_{glob}, pattern_{std::move(pattern)}, depth_{depth}, limits_{limits},
        entries_{entries} {}

  /// Why the walk did not come to its end; empty when it did.
  std::string run(const std::string& folder) {
    auto state = glob_.start();
    for (auto name : policy::components_of(folder))
      state = glob_.step(state, name);
    if (!state.empty()) enter(folder, state);
    while (!waiting_.empty() && stopped_.empty()) {
      const auto next = std::move(waiting_.back());
      waiting_.pop_back();
      list(next);
    }
    return std::move(stopped_);
  }

private:
  struct pending {
    std::string folder;
    policy::path_glob::state state;
    std::uint32_t level;
  };

  void enter(const std::string& folder, policy::path_glob::state state, std::uint32_t level = 0) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return;
    if (visited_.emplace(status.st_dev, status.st_ino, state).second)
      waiting_.push_back({folder, std::move(state), level});
  }

  void list(const pending& at) {
    DIR* stream = ::opendir(at.folder.c_str());
    if (!stream) {
      // Files in a folder that can be entered but not listed can still be read by name.
      if (::access(at.folder.c_str(), X_OK) == 0) stopped_ = "`" + at.folder + "` cannot be listed";
      return;
    }
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view name{entry->d_name};
      if (name == "." || name == "..") continue;
      if (++entries_ > limits_.glob_entries) {
        stopped_ = "more than " + std::to_string(limits_.glob_entries) +
                   " entries were looked at, the last in `" + at.folder + "`";
        break;
      }
      auto state = glob_.step(at.state, name);
      if (state.empty()) continue;
      std::string path = at.folder == "/" ? "" : at.folder;
      path.append("/").append(name);
      if (glob_.accepts(state)) {
        if (facts_.glob_matches.size() >= limits_.glob_matches) {
          stopped_ = "more than " + std::to_string(limits_.glob_matches) + " paths match";
          break;
        }
        auto found = look_at(path);
        facts_.glob_matches.push_back({pattern_, std::move(path), std::move(found)});
        continue;
      }
      const bool may_be_folder =
          entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN;
      if (may_be_folder && (!depth_ || at.level + 1 < *depth_))
        enter(path, std::move(state), at.level + 1);
    }
    ::closedir(stream);
  }

  host_facts& facts_;
  const policy::path_glob& glob_;
  std::string pattern_;
  std::optional<std::uint32_t> depth_;
  const walk_limits& limits_;
  std::size_t& entries_;
  std::string stopped_;
  std::vector<pending> waiting_;
  std::set<std::tuple<dev_t, ino_t, policy::path_glob::state>> visited_;
};

} // namespace

void walk_globs(host_facts& facts, const std::vector<policy::resolved_glob>& globs,
                std::optional<std::uint32_t> depth, const walk_limits& limits) {
  std::size_t entries = 0;
  for (const auto& resolved : globs) {
    const auto& folder = resolved.folder;
    const auto pattern = resolved.pattern();
    const auto fact = facts.paths.try_emplace(folder, path_fact{}).first;
    if (fact->second.canonical.empty()) fact->second = look_at(folder);
    const auto glob = policy::path_glob::compile(pattern);
    if (!glob || fact->second.kind != path_kind::directory) continue;
    auto stopped = glob_walk{facts, *glob, pattern, depth, limits, entries}.run(folder);
    if (!stopped.empty()) facts.unexpanded_globs.emplace_back(pattern, std::move(stopped));
  }
}

} // namespace gatehouse::sandbox
