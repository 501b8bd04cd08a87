#pragma once

#include "sandbox/host_paths.hpp"

#include <set>
#include <string>

namespace gatehouse::sandbox {

/// Protects what symbolic links in the protected folders lead to, at any depth and in turn: a hook
/// that is a link to a script of the work tree is as good as the script. All folders level by
/// level; of those that a link leads to the ones below `roots`, the writable ones. What git only
/// stores (objects, refs, logs) is passed over. Ends at the limits and says so in facts.warnings.
void find_link_targets(host_facts& facts, const std::set<std::string>& roots,
                       const walk_limits& limits);

} // namespace gatehouse::sandbox
