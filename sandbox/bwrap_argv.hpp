#pragma once

#include "protocol/sandbox_choice.hpp"
#include "sandbox/plan.hpp"

#include <span>
#include <string>
#include <vector>

namespace gatehouse::sandbox {

/// What the launcher decides beside the plan.
struct bwrap_options {
  /// `isolated` and `proxy_only` get a network namespace of their own (§80).
  network_mode network = network_mode::isolated;
  /// False where the kernel refuses a fresh /proc: an empty sealed folder stands there instead, the
  /// host's /proc is never shown.
  bool fresh_proc = true;
  /// False only for a terminal session, whose pseudo-terminal is its own session already.
  bool new_session = true;
  /// Absolute working folder inside the view; empty: unchanged.
  std::string chdir;
  /// The payload keeps what it needs to complete the view (sandbox/complete_view.hpp) and gives it
  /// up itself; else bubblewrap leaves it no capability and closes /proc, in which settings and
  /// memory of others could be written.
  bool payload_completes = false;
  /// One descriptor, open for reading and at its end, for each `denied_file` step, in order;
  /// bubblewrap closes them. @pre size() >= denied_file_count(mounts)
  std::vector<int> empty_fds;
};

/// The arguments of bubblewrap (0.8 or newer) up to but without `--` and the payload, and without
/// argv[0]. `mounts`: of a plan, or bubblewrap's share of them; short enough for `--args FD` at any
/// number of mounts. Pure.
std::vector<std::string> bwrap_argv(std::span<const mount_step> mounts,
                                    const bwrap_options& options);

} // namespace gatehouse::sandbox
