#pragma once

#include "policy/access.hpp"
#include "protocol/permission_profile.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::sandbox {

/// What stands at the end of a path, links followed.
enum class path_kind : std::uint8_t { missing, file, directory, other };

/// One path as this host sees it.
struct path_fact {
  path_kind kind = path_kind::missing;
  /// Existing: the canonical path. Missing: the canonical path of the deepest existing folder above
  /// with the remaining names appended.
  std::string canonical;
  /// Missing: that deepest existing folder, canonical. Else empty.
  std::string existing_folder;
  /// Symbolic links on the way, outermost first: (where the link lies, canonical up to its last
  /// name; its text).
  std::vector<std::pair<std::string, std::string>> links;
  /// Missing for all we know: errno when something may stand there all the same. `existing_folder`
  /// is this user's and may not be searched now (EACCES), the path is longer than the kernel takes
  /// (ENAMETOOLONG), or the file system failed. Else 0.
  int unseen = 0;

  bool operator==(const path_fact&) const = default;
};

/// A path below a writable root that must not be written (§63, §D14), existing or not.
struct protected_fact {
  std::string path; ///< absolute, below its root's canonical path or where a pointer leads
  std::string root; ///< canonical path of the writable root that it was found for
  path_fact found;
  std::string why; ///< "protected name `.git`", "git folder of `/w/.git`", …
  /// The folders above may not be moved away either: something else names this place.
  bool named_elsewhere = false;

  bool operator==(const protected_fact&) const = default;
};

/// A path that a deny glob matches now, a match behind a link, or the path that is spelled as the
/// pattern is (`app/[id]/key`).
struct glob_match {
  std::string pattern; ///< as in the profile
  std::string path;    ///< absolute, as matched
  path_fact found;
  bool as_spelled = false; ///< the pattern itself may not match it

  bool operator==(const glob_match&) const = default;
};

/// Everything about this host that the plan and the evaluator need, as one value.
struct host_facts {
  /// Every path that an entry resolves to, what it really is, and the literal folder of every glob.
  std::map<std::string, path_fact> paths;
  std::vector<protected_fact> protected_paths;
  /// Writable roots, canonical, below which protected names count at any depth.
  std::vector<std::string> nested_roots;
  std::vector<glob_match> glob_matches;
  /// A deny glob whose expansion hit a bound: (pattern, why). The plan refuses to be made.
  std::vector<std::pair<std::string, std::string>> unexpanded_globs;
  /// A configuration of git that could not be read to its end: (file, why). The plan refuses, too.
  std::vector<std::pair<std::string, std::string>> unread_configurations;
  std::vector<std::string> warnings;

  bool operator==(const host_facts&) const = default;
};

/// Bounds of the walks, counted and never timed, so that the same tree gives the same answer.
struct walk_limits {
  std::size_t repository_entries = 2000; ///< entries looked at for nested repositories, all roots
  /// Protected names found deeper down, and again links in protected folders; each is a mount.
  std::size_t nested_names = 200;
  std::size_t linked_entries = 5000;  ///< entries of protected folders looked at for links
  std::size_t glob_entries = 500'000; ///< entries looked at for deny globs, all patterns
  std::size_t glob_matches = 2000;    ///< each is a mount
};

/// Looks at the file system (stat, readlink, readdir, the text of `.git` pointer files; nothing is
/// written, no program is run). @pre the profile is managed
host_facts gather_host_facts(const permission_profile& profile,
                             const policy::access_context& context, const walk_limits& limits = {});

/// `context` with everything added that `facts` found to be protected or denied through links, so
/// that evaluate_access answers as the kernel will.
policy::access_context with_facts(policy::access_context context, const host_facts& facts);

/// Does it belong to this user, who can open what its mode closes?
bool is_own(const std::string& path);

/// One path as this host sees it now.
path_fact look_at(std::string_view path);

} // namespace gatehouse::sandbox
