#pragma once

#include "sandbox/mount_kind.hpp"

#include <cstddef>

namespace gatehouse::sandbox {

/// A step of the inner stage's share of the view (sandbox/view_shares.hpp).
struct inner_step {
  mount_kind kind;
  unsigned perms;
  const char* target; ///< absolute, canonical
  const char* source;
  int fd; ///< -1 at the start; complete_view() keeps its descriptors here
};

/// Carries out `steps` in the mount namespace that the caller is in. Without a C library. No path
/// is followed through a symbolic link: what moved since the plan was made is an error. The caller
/// holds CAP_SYS_ADMIN and CAP_DAC_OVERRIDE in the namespace, and its working folder is undefined
/// afterwards.
/// @return 0, or a negative errno: then the view is not complete and nothing may run in it
long complete_view(inner_step* steps, std::size_t count);

} // namespace gatehouse::sandbox
