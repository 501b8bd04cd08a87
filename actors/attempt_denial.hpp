#pragma once

#include "policy/access.hpp"
#include "sandbox/classify_denial.hpp"

#include <optional>

namespace gatehouse::actors {

/// The boundary that a command ran in, for saying what it refused.
struct boundary_scope {
  permission_profile profile;
  policy::access_context context; ///< of this command: its cwd and roots
};

/// What the boundary refused a command that has failed, by the facts of the host as they are now;
/// nothing when it did not fail or failed by itself (§98, §99).
std::optional<denial> find_denial(const boundary_scope& scope, sandbox::denial_evidence evidence);

} // namespace gatehouse::actors
