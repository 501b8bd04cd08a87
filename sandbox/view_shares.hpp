#pragma once

#include "sandbox/plan.hpp"

#include <span>
#include <string>
#include <vector>

namespace gatehouse::sandbox {

/// Who carries out which step of a plan. Bubblewrap makes the namespaces and whatever has to come
/// from the host's tree; the inner stage, still inside those namespaces, does what can be done with
/// what it already sees there. Bubblewrap reads the whole mount table for every mount it makes
/// (0.1 ms, and more with each), the inner stage does not.
struct view_shares {
  std::vector<mount_step> by_bwrap;
  std::vector<mount_step> by_inner;
};

/// Divides `mounts`. Pure. Done after one another, both shares give the view that `mounts` gives:
/// the sources of the inner share can all be seen once bubblewrap is done, and nothing of
/// bubblewrap's share lies below a step of the other. `console`: the terminal of standard output
/// (canonical, below /dev), which is shown as /dev/console as bubblewrap does; empty: none.
view_shares share_view(std::span<const mount_step> mounts, const std::string& console);

} // namespace gatehouse::sandbox
