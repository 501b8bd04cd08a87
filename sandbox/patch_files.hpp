#pragma once

#include "protocol/patch.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// What became of a patch. Nothing was written unless `committed` says so.
struct patch_report {
  struct change {
    char kind = 'M';  ///< 'A', 'M' or 'D'
    std::string path; ///< as the patch spells it; the destination of a move
    bool operator==(const change&) const = default;
  };
  std::vector<change> committed; ///< in patch order
  std::optional<error> failure;  ///< with `committed` not empty: a partial success (§107)
  std::size_t tolerant_matches = 0;
};

/// Applies a patch to the files below `cwd` (§D16). Everything is read, verified and computed
/// before the first write, with the files locked; each file is then replaced as a whole (a
/// temporary file beside it and a rename), modes and link targets kept. Meant to run inside the
/// boundary of the attempt: it checks no permission itself, the kernel does.
patch_report apply_patch_files(const patch& what, const std::string& cwd);

/// "Success. Updated the following files:" and a line for each, grouped A, M, D.
std::string success_summary(const patch_report& report);

} // namespace gatehouse::sandbox
