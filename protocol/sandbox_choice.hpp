#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gatehouse {

/// How this host enforces a profile (§2, §68).
enum class sandbox_backend : std::uint8_t {
  none,
  linux_bubblewrap,
  landlock, ///< legacy (§83): only when somebody asks for it
  seatbelt,
  windows,          ///< a restricted token
  windows_elevated, ///< an account of its own, made by an administrator
};
/// "none", "linux", "landlock", "seatbelt", "windows", "windows-elevated".
std::string_view to_string(sandbox_backend b) noexcept;
std::optional<sandbox_backend> sandbox_backend_from(std::string_view name) noexcept;

/// Network inside the boundary (§80).
enum class network_mode : std::uint8_t { full, isolated, proxy_only };
/// "full", "isolated", "proxy_only".
std::string_view to_string(network_mode m) noexcept;

/// What the first attempt of a call would run in: the `sandbox` part of `policy explain`.
struct sandbox_summary {
  sandbox_backend backend = sandbox_backend::none;
  bool first_attempt_sandboxed = false;
  network_mode network = network_mode::isolated;

  bool operator==(const sandbox_summary&) const = default;
};

} // namespace gatehouse
