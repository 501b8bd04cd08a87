#pragma once

#include "protocol/patch_call.hpp"
#include "protocol/permission_profile.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse {

/// What a call asks of the boundary (§13).
enum class sandbox_permissions : std::uint8_t {
  use_default,
  require_escalated, ///< run without the file-system sandbox; always a fresh review (§16)
  with_additional_permissions, ///< stay sandboxed, wider for this call
};

/// "use_default", "require_escalated", "with_additional_permissions".
std::string_view to_string(sandbox_permissions p) noexcept;
std::optional<sandbox_permissions> sandbox_permissions_from(std::string_view text) noexcept;

/// An overlay for one command, not a profile (§12). `network_enabled` unset: unchanged.
struct additional_permissions {
  std::optional<bool> network_enabled;
  std::vector<profile_entry> entries;
  std::optional<std::uint32_t> glob_scan_max_depth;

  [[nodiscard]] bool empty() const noexcept { return !network_enabled && entries.empty(); }
  bool operator==(const additional_permissions&) const = default;
};

/// Model intent (§2a, §4): what the model proposes. It carries no authority whatever; only the
/// orchestrator turns it into an `attempt`, through a requirement and, where due, a review.
struct proposal {
  /// What people read and what runs come from this one argv (§10): the user's shell with the
  /// command string, or the argv that the caller gave.
  std::vector<std::string> argv;
  std::string cwd; ///< absolute
  std::optional<std::chrono::milliseconds> timeout;
  /// The client's own limit: it shortens `timeout` or the default, and never lengthens either.
  std::optional<std::chrono::milliseconds> time_cap;
  bool login = false;
  gatehouse::sandbox_permissions sandbox_permissions = gatehouse::sandbox_permissions::use_default;
  std::optional<gatehouse::additional_permissions> additional_permissions;
  std::string justification;
  std::vector<std::string> prefix_rule; ///< suggested amendment (§40); empty: none
  bool tty = false;
  std::string environment_id = "local";
  /// Set when the command is a patch (§11): then this is applied, and `argv` is only how it came.
  std::optional<patch_call> patch;

  bool operator==(const proposal&) const = default;
};

/// The action in one line, as people read it: the words of the command, or the files of the patch.
std::string describe(const proposal& what);

} // namespace gatehouse
