#pragma once

#include "policy/shell/segments.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace gatehouse::policy {

/// True when a plain command only reads and prints (§27, §28, §D22): by program name and arguments.
/// Whether the name may be trusted (§D22) is the caller's question. A shell wrapper
/// (`bash -lc SCRIPT`) is safe when its script is plain and every command in it is safe; one level.
bool is_known_safe(std::span<const std::string> argv);

/// The same for a command lowered from PowerShell (§20); names compare without case.
bool is_known_safe_powershell(std::span<const std::string> argv);

enum class danger_kind : std::uint8_t { forced_rm, other };

/// Why a command is dangerous (§29): shown in the question.
struct danger {
  danger_kind kind = danger_kind::other;
  std::string why; ///< one line

  bool operator==(const danger&) const = default;
};

/// Judges one segment by its own words (wrappers and nesting are already resolved into segments).
std::optional<danger> find_danger(const command_segment& segment);

/// Judges a whole command: "too deeply nested" (§D20), else the first dangerous segment, else what
/// only shows when the segments are seen together (downloaded or encoded text run as a program,
/// fork bombs).
std::optional<danger> find_danger(const command_analysis& analysis);

/// The last part of the above alone: dangers that belong to no single segment.
std::optional<danger> find_combined_danger(const command_analysis& analysis);

} // namespace gatehouse::policy
