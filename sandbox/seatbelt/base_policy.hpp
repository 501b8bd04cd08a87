#pragma once

#include <string_view>

namespace gatehouse::sandbox {

/// What every process needs whatever its profile says: to start, to fork, to ask about the machine,
/// to use the standard devices. Grants no file of a person and no network.
std::string_view seatbelt_base_policy() noexcept;

/// What `:minimal` means on macOS beside the paths of policy/access: the system's own programs,
/// frameworks and settings.
std::string_view seatbelt_minimal_policy() noexcept;

/// What a process needs to look up names and check certificates once it has a network.
std::string_view seatbelt_network_services() noexcept;

} // namespace gatehouse::sandbox
