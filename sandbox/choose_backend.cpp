#include "sandbox/choose_backend.hpp"

#include <algorithm>

namespace gatehouse::sandbox {
namespace {

/// `:root` writable with nothing narrower: the whole disk may be written.
bool full_disk_write(const file_system_policy& policy) noexcept {
  if (!policy.restricted) return true;
  const bool root_write =
      std::any_of(policy.entries.begin(), policy.entries.end(), [](const profile_entry& e) {
        const auto* special = std::get_if<special_path>(&e.path);
        return special && special->kind == special_kind::root && e.access == access::write;
      });
  return root_write &&
         std::all_of(policy.entries.begin(), policy.entries.end(),
                     [](const profile_entry& e) { return e.access == access::write; });
}

} // namespace

bool should_sandbox(const permission_profile& profile, sandbox_preference preference,
                    bool managed_network) noexcept {
  if (preference == sandbox_preference::forbid) return false;
  if (preference == sandbox_preference::require || managed_network) return true;
  if (profile.kind != profile_kind::managed) return false;
  return profile.network == network_policy::restricted || !full_disk_write(profile.file_system);
}

network_mode choose_network(const permission_profile& profile, bool managed_network) noexcept {
  if (managed_network) return network_mode::proxy_only;
  if (profile.kind == profile_kind::disabled || profile.network == network_policy::enabled)
    return network_mode::full;
  return network_mode::isolated;
}

sandbox_backend platform_backend() noexcept {
#if defined(__linux__)
  return sandbox_backend::linux_bubblewrap;
#elif defined(__APPLE__)
  return sandbox_backend::seatbelt;
#elif defined(_WIN32)
  return sandbox_backend::windows;
#else
  return sandbox_backend::none;
#endif
}

} // namespace gatehouse::sandbox
