#pragma once

#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"
#include "protocol/tool_call.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy {

/// What the symbolic paths of a profile mean for one call. Gathered by the caller; all absolute.
struct access_context {
  std::string cwd;                        ///< policy cwd: base of relative globs
  std::vector<std::string> project_roots; ///< at least one
  std::string tmpdir;                     ///< $TMPDIR when set and absolute, else empty
  bool slash_tmp_is_directory = true;
  /// Names protected below every writable root (§63, §D14); see default_protected_names().
  std::vector<std::string> protected_names;
  /// Absolute paths found on this host that are protected as well: git folders that a pointer file
  /// names, hooks and config of nested and bare repositories, this program's own state (§63, §D14).
  std::vector<std::string> protected_paths;
  /// Canonical writable roots below which the names count at any depth, also where they do not
  /// exist yet: where somebody watches that they do not come to be (Linux).
  std::vector<std::string> nested_roots;
  /// Canonical paths found on this host that a deny entry or a deny glob reaches through a symbolic
  /// link: denied as well.
  std::vector<std::string> denied_paths;
  /// Entry paths and literal folders of globs that symbolic links lead elsewhere: what they really
  /// are on this host. Both spellings count.
  std::map<std::string, std::string, std::less<>> canonical_paths;
};

/// `.git`, `.agents`, `.codex`, `.gatehouse`, `.aws`, … : §63 and §D14 as data. A name may have
/// several components (`.github/hooks`).
const std::vector<std::string>& default_protected_names();

/// A protected name on the way of a path.
struct protected_place {
  std::string path; ///< up to and with the name
  std::string name; ///< as in the list
};
/// The first name of `names` that `path` is or lies below, anywhere below `root`. Nothing inside
/// folders of installed packages (`node_modules`, …), which are full of such names.
std::optional<protected_place> find_protected_name(const std::vector<std::string>& names,
                                                   std::string_view root, std::string_view path);
/// Is this the name of such a folder?
bool holds_installed_packages(std::string_view folder_name) noexcept;

/// Do names count at any depth below the paths of this entry? They do below a folder that was named
/// as a place to work in; `/` and the folders for temporary files protect their direct children.
bool protects_nested_names(const profile_entry& entry, std::string_view resolved_path) noexcept;

/// What `:minimal` grants: the system's programs, libraries and configuration.
const std::vector<std::string>& minimal_paths();

/// One entry of a profile as a concrete path: specials replaced, normal.
struct resolved_entry {
  std::string path;
  gatehouse::access access = gatehouse::access::read;
  std::size_t index = 0; ///< of the entry in the profile
};
/// All entries but globs. An entry may give several paths (several roots, a path and what it really
/// is), or none (no $TMPDIR).
std::vector<resolved_entry> resolve_entries(const file_system_policy& policy,
                                            const access_context& context);

struct resolved_glob {
  std::string folder;    ///< every match lies below it; absolute, normal, no pattern
  std::string rest;      ///< the pattern below `folder`
  std::size_t index = 0; ///< of the entry in the profile

  [[nodiscard]] std::string pattern() const; ///< absolute, for path_glob::compile
};
/// The deny globs, absolute. A relative one holds below the cwd and below every project root.
std::vector<resolved_glob> resolve_globs(const file_system_policy& policy,
                                         const access_context& context);

/// Does a write entry at or below `protected_path` cover `path`? Such an entry opens a protection
/// (§63).
bool opened_by_entry(const std::vector<resolved_entry>& entries, std::string_view protected_path,
                     std::string_view path);

/// The answer to "may this path be touched, and who says so?"
struct access_answer {
  gatehouse::access granted = gatehouse::access::deny; ///< read: only reading; write: both
  std::string decided_by;     ///< "`:project_roots` write", "protected name `.git`", "no entry"
  bool is_protection = false; ///< a protected name or path took write away
  /// The entry that decided, as an index into the profile; nothing when none did.
  std::optional<std::size_t> entry;

  /// Denied by somebody, not merely granted by nobody: no overlay can open it.
  [[nodiscard]] bool denied_explicitly() const noexcept;
};

/// The one evaluator (§62): most specific entry first, then deny > write > read; an invalid deny
/// glob denies everything (§64); protected names take write away unless a narrower write entry
/// opens them (§63). `path` is absolute; its dots are resolved as text, so that a caller who knows
/// links must resolve them first. Disabled and external profiles answer write.
access_answer evaluate_access(const permission_profile& profile, const access_context& context,
                              std::string_view path);

} // namespace gatehouse::policy
