#pragma once

#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"
#include "protocol/tool_call.hpp"

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
};

/// `.git`, `.agents`, `.codex`, `.gatehouse`, `.aws`, … : §63 and §D14 as data.
const std::vector<std::string>& default_protected_names();

/// The answer to "may this path be touched, and who says so?"
struct access_answer {
  gatehouse::access granted = gatehouse::access::deny; ///< read: only reading; write: both
  std::string decided_by;     ///< "`:project_roots` write", "protected name `.git`", "no entry"
  bool is_protection = false; ///< a protected name or path took write away
};

/// The one evaluator (§62): most specific entry first, then deny > write > read; an invalid deny
/// glob denies everything (§64); protected names take write away unless a narrower write entry
/// opens them (§63). `path` is absolute and lexically normal. Disabled and external profiles answer
/// write.
access_answer evaluate_access(const permission_profile& profile, const access_context& context,
                              std::string_view path);

} // namespace gatehouse::policy
