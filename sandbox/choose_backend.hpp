#pragma once

#include "protocol/permission_profile.hpp"
#include "protocol/sandbox_choice.hpp"

#include <cstdint>

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

} // namespace gatehouse::sandbox
