#include "sandbox/walk_globs.hpp"

#include "policy/glob.hpp"
#include "policy/path_text.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

/// Patterns below one folder, all of them in one walk: reading folders is what takes time (BR-200).
class glob_walk {
public:
  glob_walk(host_facts& facts, std::optional<std::uint32_t> depth, const walk_limits& limits,
            std::size_t& entries)
      : facts_{facts}, depth_{depth}, limits_{limits}, entries_{entries} {}

  void add(policy::path_glob glob, std::string pattern) {
    globs_.push_back({std::move(glob), std::move(pattern)});
  }

  void run(const std::string& folder) {
    states all;
    for (const auto& one : globs_) {
      auto state = one.glob.start();
      for (auto name : policy::components_of(folder))
        state = one.glob.step(state, name);
      all.push_back(std::move(state));
    }
    enter(folder, std::move(all));
    while (!waiting_.empty() && !stopped_) {
      const auto next = std::move(waiting_.back());
      waiting_.pop_back();
      list(next);
    }
  }

private:
  using states = std::vector<policy::path_glob::state>; ///< one for each pattern
  struct compiled {
    policy::path_glob glob;
    std::string pattern;
  };
  struct pending {
    std::string folder;
    states state;
    std::uint32_t level;
  };

  void enter(const std::string& folder, states state, std::uint32_t level = 0) {
    const bool all_done =
        std::all_of(state.begin(), state.end(), [](const auto& one) { return one.empty(); });
    struct statx status {};
    if (all_done) return;
    if (::statx(AT_FDCWD, folder.c_str(), 0, STATX_TYPE | STATX_INO | STATX_MNT_ID, &status) != 0) {
      if (const auto why = unseen_in(folder, errno); !why.empty())
        stop({folder, std::move(state), level}, why);
      return;
    }
    if (!S_ISDIR(status.stx_mode)) return;
    // A folder that is mounted a second time is there twice; one mount may show several file
    // systems that count their files alike (subvolumes).
    const auto device = makedev(status.stx_dev_major, status.stx_dev_minor);
    if (visited_.emplace(status.stx_mnt_id, device, status.stx_ino, state).second)
      waiting_.push_back({folder, std::move(state), level});
  }

  /// Why what cannot be looked at may be a folder all the same; empty when it is none.
  static std::string unseen_in(const std::string& folder, int failure) {
    switch (failure) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP: return {};
    case ENAMETOOLONG: // else of the text of a link, which then leads nowhere
      return folder.size() < PATH_MAX
                 ? std::string{}
                 : "the path of a folder is too long: `" + folder.substr(0, 100) + "…`";
    case EACCES: { // here, or where a link leads
      const auto fact = look_at(folder);
      return fact.unseen == 0 ? std::string{} : "`" + fact.existing_folder + "` cannot be searched";
    }
    default: return "`" + folder + "` cannot be looked at: " + std::strerror(failure);
    }
  }

  /// The walk ends: what still had something to find is not expanded.
  void stop(const pending& at, const std::string& why) {
    stopped_ = true;
    for (std::size_t i = 0; i < globs_.size(); ++i)
      if (!at.state[i].empty()) facts_.unexpanded_globs.emplace_back(globs_[i].pattern, why);
  }

  void list(const pending& at) {
    DIR* stream = ::opendir(at.folder.c_str());
    if (!stream) {
      // Files in a folder that can be entered but not listed can still be read by name, and a
      // folder of ours can be opened.
      const int failure = errno;
      if (failure == ENOENT || failure == ENOTDIR || failure == ELOOP) return;
      if (failure != EACCES || ::access(at.folder.c_str(), X_OK) == 0 || is_own(at.folder))
        stop(at, "`" + at.folder + "` cannot be listed: " + std::strerror(failure));
      return;
    }
    while (const dirent* entry = stopped_ ? nullptr : ::readdir(stream)) {
      const std::string_view name{entry->d_name};
      if (name == "." || name == "..") continue;
      if (++entries_ > limits_.glob_entries)
        stop(at, "more than " + std::to_string(limits_.glob_entries) +
                     " entries were looked at, the last in `" + at.folder + "`");
      else
        look_at_entry(at, name, entry->d_type);
    }
    ::closedir(stream);
  }

  void look_at_entry(const pending& at, std::string_view name, unsigned char type) {
    const auto path = [&] {
      std::string whole = at.folder == "/" ? "" : at.folder;
      return whole.append("/").append(name);
    };
    const bool may_be_folder = (type == DT_DIR || type == DT_LNK || type == DT_UNKNOWN) &&
                               (!depth_ || at.level + 1 < *depth_);
    const auto text = policy::path_glob::decode(name);
    states below(may_be_folder ? globs_.size() : 0);
    for (std::size_t i = 0; i < globs_.size(); ++i) {
      if (at.state[i].empty()) continue;
      const auto& [glob, pattern] = globs_[i];
      if (glob.accepts_below(at.state[i], text)) {
        if (facts_.glob_matches.size() >= limits_.glob_matches)
          return stop(at, "more than " + std::to_string(limits_.glob_matches) + " paths match");
        auto match = path();
        auto found = look_at(match);
        facts_.glob_matches.push_back({pattern, std::move(match), std::move(found), false});
      } else if (may_be_folder) {
        below[i] = glob.step(at.state[i], text);
      }
    }
    if (may_be_folder) enter(path(), std::move(below), at.level + 1);
  }

  host_facts& facts_;
  std::vector<compiled> globs_;
  std::optional<std::uint32_t> depth_;
  const walk_limits& limits_;
  std::size_t& entries_;
  bool stopped_ = false;
  std::vector<pending> waiting_;
  std::set<std::tuple<std::uint64_t, dev_t, std::uint64_t, states>> visited_; ///< with the mount
};

/// Frameworks name files with the characters of patterns: both readings are denied.
void add_as_spelled(host_facts& facts, const policy::resolved_glob& resolved,
                    const policy::path_glob& glob, const std::string& pattern) {
  auto path = (resolved.folder == "/" ? "" : resolved.folder) + "/" + resolved.rest;
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || glob.matches(path)) return;
  auto found = look_at(path);
  facts.glob_matches.push_back({pattern, std::move(path), std::move(found), true});
}

} // namespace

void walk_globs(host_facts& facts, const std::vector<policy::resolved_glob>& globs,
                std::optional<std::uint32_t> depth, const walk_limits& limits) {
  std::size_t entries = 0;
  std::map<std::string, glob_walk> walks; ///< by folder
  for (const auto& resolved : globs) {
    const auto& folder = resolved.folder;
    const auto pattern = resolved.pattern();
    const auto fact = facts.paths.try_emplace(folder, path_fact{}).first;
    if (fact->second.canonical.empty()) fact->second = look_at(folder);
    auto glob = policy::path_glob::compile(pattern);
    if (glob) add_as_spelled(facts, resolved, *glob, pattern);
    if (!glob || fact->second.kind != path_kind::directory) continue;
    walks.try_emplace(folder, facts, depth, limits, entries)
        .first->second.add(*std::move(glob), pattern);
  }
  for (auto& [folder, walk] : walks)
    walk.run(folder);
}

} // namespace gatehouse::sandbox
