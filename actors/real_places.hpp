#pragma once

#include "protocol/tool_call.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

// What stands on this host under the names that calls and people use. All of it blocks as stat
// does.
namespace gatehouse::actors {

/// Folders by the name a session has for them, and what each really is, links followed.
using real_folders = std::map<std::string, std::string, std::less<>>;

/// Where `path` leads, links followed; what does not exist yet stands there as it is named.
std::string real_path_of(const std::string& path);

/// What these folders really are now.
real_folders really(const std::vector<std::string>& paths);

/// Why a call must not run: one of the folders leads elsewhere than it did.
std::optional<std::string> moved_folder(const real_folders& then);

/// The wish with every plain path as it really is: what is shown, granted and remembered is what
/// opens, whatever links lead there.
additional_permissions with_real_paths(additional_permissions wish);

/// The first entry whose path is not what it really is (any more), in words; nothing when all are.
std::optional<std::string> moved_entry(const additional_permissions& granted);

/// The folder of an approval (§53): its real path, device and inode; another text when another
/// folder stands there.
std::string folder_key(const std::string& path);

} // namespace gatehouse::actors
