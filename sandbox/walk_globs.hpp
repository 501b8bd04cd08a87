#pragma once

#include "policy/access.hpp"
#include "sandbox/host_paths.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gatehouse::sandbox {

/// Expands deny globs into facts.glob_matches. Hidden entries count, links to folders are followed
/// (each folder once for each state of the pattern), a folder that matches is not entered. `depth`:
/// folder levels below the pattern's literal folder, 1 = its own entries only. A bound that is hit
/// makes the pattern one of facts.unexpanded_globs. Patterns that do not compile are left to the
/// plan.
void walk_globs(host_facts& facts, const std::vector<policy::resolved_glob>& globs,
                std::optional<std::uint32_t> depth, const walk_limits& limits);

} // namespace gatehouse::sandbox
