#pragma once

#include "sandbox/outer_options.hpp"

#include <span>
#include <string>

namespace gatehouse::sandbox {

/// The outer stage (§77): plans the view, starts bubblewrap with `gatehouse-sandbox-init` in it,
/// supervises, and returns the exit status to end with. When it returns, every process of the
/// command has ended. The command never runs in a weaker boundary than the profile asks for: what
/// is missing is said on standard error and in the report, and nothing runs.
///
/// `init_path`: the inner stage, absolute. `environment`: the command's. Takes over the signal mask
/// and the descriptors above 2 of this process: for a main function only.
int run_outer(const outer_options& options, const std::string& init_path,
              std::span<const char* const> environment);

} // namespace gatehouse::sandbox
