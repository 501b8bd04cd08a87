#pragma once

#include "protocol/rpc/app_types.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::rpc::app {

/// What a patch would change, as its text says, in the shapes of an item `fileChange`. A text that
/// is no patch changes nothing.
/// @param folder absolute: base of its relative paths; links are not followed
std::vector<file_update> changes_of(std::string_view patch_text, std::string_view folder);

} // namespace gatehouse::rpc::app
