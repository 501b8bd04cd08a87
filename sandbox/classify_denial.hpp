#pragma once

#include "policy/access.hpp"
#include "protocol/denial.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/sandbox_choice.hpp"
#include "sandbox/host_paths.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// What is known about a command that ran inside a boundary and has ended.
struct denial_evidence {
  std::optional<int> exit_code;
  std::optional<int> signal;
  bool timed_out = false;
  std::string cwd; ///< absolute
  std::vector<std::string> argv;
  std::string_view stdout_tail; ///< the last 64 KiB are looked at
  std::string_view stderr_tail;
  sandbox_backend backend = sandbox_backend::linux_bubblewrap;
  network_mode network = network_mode::isolated;
  /// What the supervisor or the proxy saw itself refuse, in order: proof. `remedy` is not read.
  std::vector<denial> observed;
  /// Looks at a path of the host (look_at); without it paths are judged by their text alone.
  std::function<path_fact(std::string_view)> look;
};

/// Was the failure a refusal of the boundary, of what, by which entry, and what request would allow
/// it (§92b, §97–§99, §D10)? Signal and time-out come first, success is never a denial. What was
/// observed is proof; a command's own words are evidence that counts only where the evaluator says
/// that this very access is refused. `context` as with_facts() made it. Pure but for `look`.
std::optional<denial> classify_denial(const permission_profile& profile,
                                      const policy::access_context& context,
                                      const denial_evidence& evidence);

} // namespace gatehouse::sandbox
