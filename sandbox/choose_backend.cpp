#include "sandbox/choose_backend.hpp"

#include "sandbox/doctor.hpp"
#include "sandbox/file_descriptor.hpp"
#include "sandbox/landlock.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

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

host_platform look_at_platform() {
  host_platform host;
  const file_descriptor version{open("/proc/version", O_RDONLY | O_CLOEXEC)};
  char text[512];
  const ssize_t size = version ? read(version.get(), text, sizeof text) : 0;
  host.wsl1 = is_wsl1({text, size > 0 ? static_cast<std::size_t>(size) : 0});
  host.landlock_abi = landlock::abi_version();
  return host;
}

namespace {

error missing(const std::string& what, std::string next) {
  return {errc::boundary_unavailable, "refusing to run unsandboxed: " + what, std::move(next)};
}

} // namespace

result<sandbox_backend> backend_on_platform(std::optional<sandbox_backend> requested,
                                            sandbox_backend native) {
  using enum sandbox_backend;
  const sandbox_backend chosen = requested.value_or(native);
  if (chosen == none) return missing("there is no sandbox for this platform", "run it on Linux");
  if (chosen == native || (native == linux_bubblewrap && chosen == landlock) ||
      (native == windows && chosen == windows_elevated))
    return chosen;
  return missing("the " + std::string{to_string(chosen)} + " backend is not of this platform",
                 "use " + std::string{to_string(native)});
}

result<sandbox_backend> choose_backend(std::optional<sandbox_backend> requested,
                                       const host_platform& host,
                                       std::span<const capability_need> needs) {
  auto chosen = backend_on_platform(requested, host.native);
  if (!chosen) return chosen;
  if (host.native == sandbox_backend::linux_bubblewrap && host.wsl1)
    return missing("WSL 1 has neither namespaces nor Landlock",
                   "convert the distribution: wsl --set-version NAME 2");
  if (*chosen == sandbox_backend::landlock && host.landlock_abi < landlock::least_abi_alone)
    return missing("the landlock backend needs Landlock ABI " +
                       std::to_string(landlock::least_abi_alone) +
                       " (Linux 6.12), and this kernel has " +
                       (host.landlock_abi == 0 ? "none" : std::to_string(host.landlock_abi)),
                   "use a newer kernel, or the linux backend");
  if (auto expressed = check_expressible(*chosen, needs); !expressed) return expressed.error();
  return chosen;
}

} // namespace gatehouse::sandbox
