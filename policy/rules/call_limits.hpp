#pragma once

#include <cstddef>

namespace gatehouse::policy {

/// Words of a rule's pattern. No command that a person names by its first words needs more, and
/// what goes through a pattern word by word may count on it.
inline constexpr std::size_t most_pattern_words = 1000;
/// Paths of a gate: each is compared with each.
inline constexpr std::size_t most_gate_paths = 1000;

} // namespace gatehouse::policy
