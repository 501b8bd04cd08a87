#pragma once

#include "actors/call_flow.hpp"

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gatehouse::actors {

/// What a path leads to, links followed.
struct folder_identity {
  std::string path;      ///< as the question shows it
  std::string real_path; ///< empty: it leads nowhere
  dev_t device = 0;      ///< of a folder; a file may be replaced, as editors do
  ino_t inode = 0;

  bool operator==(const folder_identity&) const = default;
};

/// The places that an approval of this call is about: its folder, the project roots, and what it
/// wants opened beyond the profile (§50). Looks at this host; blocks as stat does. Empty for a call
/// that runs on another machine, which cannot be looked at.
std::vector<folder_identity> folders_of(const call_plan& plan);

/// Why an approval that was asked with `asked` does not hold for what stands there `now`.
std::optional<std::string> other_folder(const std::vector<folder_identity>& asked,
                                        const std::vector<folder_identity>& now);

} // namespace gatehouse::actors
