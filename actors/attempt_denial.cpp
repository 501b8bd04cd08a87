#include "actors/attempt_denial.hpp"

#include "sandbox/host_paths.hpp"

#include <utility>

namespace gatehouse::actors {

std::optional<denial> find_denial(const boundary_scope& scope, sandbox::denial_evidence evidence) {
  if (evidence.backend == sandbox_backend::none || evidence.exit_code == 0) return std::nullopt;
  evidence.look = sandbox::look_at;
  return sandbox::classify_denial(
      scope.profile,
      sandbox::with_facts(scope.context, sandbox::gather_host_facts(scope.profile, scope.context)),
      evidence);
}

} // namespace gatehouse::actors
