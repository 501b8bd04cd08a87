#pragma once

#include "sandbox/host_paths.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// Adds what git would execute or obey in `folder`, beyond the name `.git` itself: the git folder
/// that a pointer file names (worktree, submodule), also when it is missing, with its common
/// folder; the hooks folders and included files that configurations name, those of submodules and
/// worktrees too; config and hooks of a bare repository. A configuration that is too large to read
/// is added to facts.unread_configurations.
/// `root`: the writable root the facts hold for. Both canonical.
void find_git_parts(host_facts& facts, const std::string& root, const std::string& folder);

/// The same for the nearest repository around `root`: one works in a part of it.
void find_git_parts_above(host_facts& facts, const std::string& root);

/// The git folder of a work tree, canonical: `.git`; where its pointer file leads; of a linked
/// worktree the common folder, which holds its own. Empty when there is none, or when a pointer
/// leads to a folder that does not know this work tree.
std::vector<std::string> git_folders_of(const std::string& work_tree);

/// Adds `path` as a protected fact of `root`. It may hold `..` and links: what it really is counts.
void protect(host_facts& facts, const std::string& root, std::string_view path, std::string why,
             bool named_elsewhere);

} // namespace gatehouse::sandbox
