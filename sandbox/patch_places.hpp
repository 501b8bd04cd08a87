#pragma once

#include "protocol/patch_call.hpp"

#include <string>
#include <vector>

namespace gatehouse::sandbox {

/// Where one operation of a patch works on this host.
struct patch_place {
  file_change change;
  std::string reads; ///< update and move: the file whose text is changed, links followed
  /// Deepest folder that exists at or above the folder of `change.path`, canonical.
  std::string existing_folder;
};

/// Finds the files of a patch as they are named now, one place for each operation. Names and links
/// are looked at, no file is opened. An update and an addition follow links, as writing does; a
/// deletion and the source of a move are the name itself. @pre cwd is absolute
std::vector<patch_place> find_patch_places(const patch& what, const std::string& cwd);

} // namespace gatehouse::sandbox
