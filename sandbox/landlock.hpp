#pragma once

#include <cstddef>

/// As the second wall behind bubblewrap: whatever a mistake in the mount plan would leave writable,
/// Landlock refuses. As the only one (§83): see sandbox/landlock_backend.hpp. Needs no C library,
/// because `gatehouse-sandbox-init` has none.
namespace gatehouse::sandbox::landlock {

/// Version of the kernel's Landlock interface: 1 or more, 0 when there is none or it is disabled.
int abi_version() noexcept;

/// With less, the backend that has Landlock alone would leave something open: truncation (3), TCP
/// (4), device controls (5), signals and abstract sockets (6).
inline constexpr int least_abi_alone = 6;

/// Behind bubblewrap, or alone: then also controls of devices, and TCP unless `network`, are
/// refused, and a kernel that knows less than least_abi_alone is an error (ENOSYS).
struct wall {
  bool alone = false;
  bool network = true;
};

/// Restricts the calling thread and its children for good: files may be changed only at or below
/// `write_paths`; abstract unix sockets and signals stay inside where the kernel can do that.
/// Reading is left to the mounts. `keep_open` are descriptors of regular files that may be reopened
/// for writing (a redirected standard output). A path that cannot be opened gets no grant. Rights
/// unknown to the kernel are left out, so on an old kernel this is weaker, never wider, than the
/// mounts alone.
///
/// @pre no_new_privs is set.
/// @return 0; the ABI being 0 is success as well (bubblewrap stands alone); else errno.
int restrict_writes(wall w, const char* const* write_paths, std::size_t count, const int* keep_open,
                    std::size_t keep_count) noexcept;

/// A further limit for the calling thread: it and its children can signal only themselves, not
/// whoever shares its rules. @return 0 or errno
int restrict_signals() noexcept;

} // namespace gatehouse::sandbox::landlock
