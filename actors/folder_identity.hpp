#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gatehouse::actors {

/// What a path leads to, links followed.
struct folder_identity {
  std::string path;      ///< as people were shown it
  std::string real_path; ///< empty: it leads nowhere
  dev_t device = 0;      ///< of a folder; a file may be replaced, as editors do
  ino_t inode = 0;

  bool operator==(const folder_identity&) const = default;
};

/// Looks at this host; blocks as stat does.
folder_identity identity_of(const std::string& path);

/// A folder that a session works in, as it is now. One that is not there yet has the real path that
/// it would have if it were made.
folder_identity pin_folder(const std::string& path);

/// What to do about it.
constexpr auto replaced_remedy =
    "Look who moved it, and start a new session in the folder that is meant.";

/// Why a session that was opened with `pinned` may not go on: the first of them that is another
/// folder now, or is reached by another way. Who may write around a folder can put a link or
/// another folder in its place, and every right of the session would go along.
std::optional<std::string> replaced_folder(const std::vector<folder_identity>& pinned);

} // namespace gatehouse::actors
