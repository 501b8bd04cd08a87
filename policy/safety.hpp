#pragma once

#include "policy/shell/segments.hpp"

#include <optional>
#include <span>
#include <string>

namespace gatehouse::policy {

/// True when a plain command only reads and prints (§27, §28, §D22): by program name and arguments.
/// Whether the name may be trusted (§D22) is the caller's question.
bool is_known_safe(std::span<const std::string> argv);

enum class danger_kind : std::uint8_t { forced_rm, other };

/// Why a command is dangerous (§29): shown in the question.
struct danger {
  danger_kind kind = danger_kind::other;
  std::string why; ///< one line
};

/// Judges one segment by its own words (wrappers and nesting are already resolved into segments).
std::optional<danger> find_danger(const command_segment& segment);

/// Judges a whole command: the first dangerous segment, pipelines into a shell, fork bombs, and
/// "too deeply nested" (§D20).
std::optional<danger> find_danger(const command_analysis& analysis);

} // namespace gatehouse::policy
