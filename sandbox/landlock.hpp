#pragma once

#include <cstddef>

/// The second wall: whatever a mistake in the mount plan would leave writable, Landlock refuses.
/// Needs no C library, because `gatehouse-sandbox-init` has none.
namespace gatehouse::sandbox::landlock {

/// Version of the kernel's Landlock interface: 1 or more, 0 when there is none or it is disabled.
int abi_version() noexcept;

/// Restricts the calling thread and its children for good: files may be changed only at or below
/// `write_paths`; abstract unix sockets and signals stay inside where the kernel can do that.
/// Reading is left to the mounts. `keep_open` are descriptors of regular files that may be reopened
/// for writing (a redirected standard output). A path that cannot be opened gets no grant. Rights
/// unknown to the kernel are left out, so on an old kernel this is weaker, never wider, than the
/// mounts alone.
///
/// @pre no_new_privs is set.
/// @return 0; the ABI being 0 is success as well (bubblewrap stands alone); else errno.
int restrict_writes(const char* const* write_paths, std::size_t count, const int* keep_open,
                    std::size_t keep_count) noexcept;

} // namespace gatehouse::sandbox::landlock
