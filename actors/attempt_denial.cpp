#include "actors/attempt_denial.hpp"

#include "sandbox/host_paths.hpp"

#include <algorithm>
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

std::string past_proxy_note(const std::vector<denial>& observed) {
  const auto found = std::ranges::find_if(observed, [](const denial& seen) {
    return seen.kind == denial_kind::network && !seen.host.empty();
  });
  if (found == observed.end()) return {};
  return "the command tried to connect to " + found->host +
         " past the proxy, which leads nowhere, and yet ended with 0. Hosts are reached, and asked "
         "about, through the proxy alone: give that client the proxy (HTTPS_PROXY, ALL_PROXY and "
         "relatives name it)";
}

} // namespace gatehouse::actors
