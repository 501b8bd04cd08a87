#pragma once

#include "policy/access.hpp"
#include "sandbox/classify_denial.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// The boundary that a command ran in, for saying what it refused.
struct boundary_scope {
  permission_profile profile;
  policy::access_context context; ///< of this command: its cwd and roots
};

/// What the boundary refused a command that has failed, by the facts of the host as they are now;
/// nothing when it did not fail or failed by itself (§98, §99).
std::optional<denial> find_denial(const boundary_scope& scope, sandbox::denial_evidence evidence);

/// Where a command that ended well tried to go past the managed proxy, for its report (§205): a
/// refusal that fails no command leaves no other trace. Empty: it did not, as far as can be seen.
std::string past_proxy_note(const std::vector<denial>& observed);

} // namespace gatehouse::actors
