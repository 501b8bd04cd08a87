#pragma once

#include "sandbox/host_paths.hpp"

#include <set>
#include <string>
#include <vector>

namespace gatehouse::sandbox {

/// Adds what git would execute or obey in `folder`, beyond the name `.git` itself: the git folder
/// that a pointer file names (worktree, submodule), also when it is missing, with its common
/// folder; the hooks folder that the configuration names; config and hooks of a bare repository.
/// `root`: the writable root the facts hold for. Both canonical.
void find_git_parts(host_facts& facts, const std::string& root, const std::string& folder);

/// The git folder of a work tree, canonical: `.git`; where its pointer file leads; of a linked
/// worktree the common folder, which holds its own. Empty when there is none, or when a pointer
/// leads to a folder that does not know this work tree.
std::vector<std::string> git_folders_of(const std::string& work_tree);

/// Looks for repositories and for protected names in the folders below `roots`, breadth first,
/// links not followed, within the limits; says in facts.warnings when it did not come to the end.
void find_nested_names(host_facts& facts, const std::set<std::string>& roots,
                       const std::vector<std::string>& protected_names, const walk_limits& limits);

} // namespace gatehouse::sandbox
