#pragma once

#include "sandbox/outer_options.hpp"

#include <memory>
#include <span>
#include <string>

namespace gatehouse::sandbox {

/// A bubblewrap that was loaded for the next command, before it was known which; it has made no
/// namespace and no mount, and ends with this object.
struct bwrap_ahead;
struct bwrap_ahead_deleter {
  void operator()(bwrap_ahead* one) const noexcept;
};
using bwrap_ahead_ptr = std::unique_ptr<bwrap_ahead, bwrap_ahead_deleter>;

/// Chooses and loads bubblewrap as run_outer would for `options`, a command that was run before.
/// Null: there is nothing to load, or it cannot be; run_outer says why. For a main function only.
bwrap_ahead_ptr start_bwrap_ahead(const outer_options& options, const std::string& init_path);

/// The outer stage (§77): plans the view, starts bubblewrap with `gatehouse-sandbox-init` in it,
/// supervises, and returns the exit status to end with. When it returns, every process of the
/// command has ended. The command never runs in a weaker boundary than the profile asks for: what
/// is missing is said on standard error and in the report, and nothing runs.
///
/// `init_path`: the inner stage, absolute. `environment`: the command's. Takes over the signal mask
/// and the descriptors above 2 of this process: for a main function only. `ahead` (may be null) is
/// used when it is the very program that would be chosen for `options` now, and ended otherwise.
int run_outer(const outer_options& options, const std::string& init_path,
              std::span<const char* const> environment, bwrap_ahead_ptr ahead = {});

} // namespace gatehouse::sandbox
