#pragma once

#include "sandbox/host_paths.hpp"

#include <set>
#include <string>
#include <vector>

namespace gatehouse::sandbox {

/// Looks for repositories and for protected names in the folders below `roots`, breadth first,
/// links not followed, within the limits; says in facts.warnings when it did not come to the end.
void find_nested_names(host_facts& facts, const std::set<std::string>& roots,
                       const std::vector<std::string>& protected_names, const walk_limits& limits);

} // namespace gatehouse::sandbox
