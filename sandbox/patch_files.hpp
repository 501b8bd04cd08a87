#pragma once

#include "protocol/patch_call.hpp"
#include "protocol/result.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse::sandbox {

/// How a patch is to be applied.
struct patch_terms {
  std::string cwd; ///< absolute: base of relative paths
  /// What was checked and approved, one for each operation. A file that leads elsewhere meanwhile
  /// is an error. Empty: wherever the files are now.
  std::vector<file_change> expected;
  patch_progress done; ///< by an earlier attempt: not done again (§107)
  bool only_verify = false;
  /// Called before the first file changes, with the number of chunks that matched only where white
  /// space or typographic characters were ignored. May be empty.
  std::function<void(std::size_t)> on_verified;
  /// Called when an operation is on disk, and when the destination of a move is.
  std::function<void(const patch_progress&)> on_progress;
  /// Asked between files; true ends the patch as a failure there. May be empty.
  std::function<bool()> stopped;
};

struct patch_report {
  patch_progress done; ///< the earlier attempt's included
  std::optional<error> failure;
};

/// Applies a patch (§D16): everything is read, verified and worked out, and every new content lies
/// complete beside its file, before the first file changes; then each file is replaced as a whole
/// by a rename. Modes are kept, links followed for writing. Folders are pinned: a link put in their
/// place meanwhile is an error, and so is a file that was changed since it was read. Patches of the
/// same folders take turns. Checks no permission; meant to run inside the boundary of the attempt.
/// A failure with `done` beyond the terms' own is a partial success.
patch_report apply_patch_files(const patch& what, const patch_terms& terms);

} // namespace gatehouse::sandbox
