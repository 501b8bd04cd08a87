#pragma once

#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"
#include "protocol/sandbox_choice.hpp"
#include "sandbox/capabilities.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace gatehouse::sandbox {

/// What a runtime wants (§46): `automatic` lets the profile decide.
enum class sandbox_preference : std::uint8_t { automatic, require, forbid };

/// Does this profile need a sandbox of ours? (§67) Managed: whenever anything is restricted.
bool should_sandbox(const permission_profile& profile, sandbox_preference preference,
                    bool managed_network) noexcept;

/// Network inside the boundary (§80).
network_mode choose_network(const permission_profile& profile, bool managed_network) noexcept;

/// The backend of the platform this program was built for (§68). Availability is another fact: it
/// is found by trying (`doctor`, and the launch itself), never assumed.
sandbox_backend platform_backend() noexcept;

/// What is known of the host before anything is tried.
struct host_platform {
  sandbox_backend native = platform_backend();
  bool wsl1 = false;    ///< no namespaces (§84)
  int landlock_abi = 0; ///< sandbox/landlock.hpp
};
/// Reads /proc/version and asks the kernel.
host_platform look_at_platform();

/// What was asked for, or else `native`; an error when a platform with `native` does not have it.
result<sandbox_backend> backend_on_platform(std::optional<sandbox_backend> requested,
                                            sandbox_backend native);

/// The backend for one attempt (§68): the one that was asked for, or else the platform's. It is
/// never exchanged for another: what is asked for and not there, or cannot express the profile, is
/// an error that names what is missing, and nothing may run.
result<sandbox_backend> choose_backend(std::optional<sandbox_backend> requested,
                                       const host_platform& host,
                                       std::span<const capability_need> needs);

} // namespace gatehouse::sandbox
