#pragma once

#include "policy/access.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"
#include "protocol/sandbox_choice.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/seccomp_filter.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gatehouse::cli {

/// The boundary of a profile on this host (`gatehouse sandbox --explain`). Where a list of paths
/// has "/", it is everything that no list names.
struct explained_boundary {
  std::string profile; ///< JSON
  sandbox_backend backend = sandbox_backend::none;
  network_mode network = network_mode::full;
  std::vector<std::string> readable;
  std::vector<std::string> writable; ///< and readable
  std::vector<std::string> hidden;
  std::vector<std::string> is_protected; ///< inside a writable folder, but read-only
  std::vector<std::string> grants;       ///< of Landlock; of the backend that has nothing else
  std::vector<sandbox::creation_guard> guards;
  std::vector<sandbox::mount_step> mounts; ///< in this order
  std::map<sandbox::filter_answer, std::vector<std::string>> system_calls;
  std::vector<std::pair<std::string, std::string>> parameters; ///< of `policy`
  std::string policy; ///< of the seatbelt backend: as macOS would get it
  std::vector<std::string> warnings;
};

/// For the seatbelt backend on any host. Errors: what cannot be enforced here.
result<explained_boundary> explain_sandbox(const permission_profile& profile,
                                           const policy::access_context& context,
                                           sandbox_backend backend, bool managed_network);

/// For people.
std::string boundary_text(const explained_boundary& boundary);
/// One line of JSON, without its end.
std::string boundary_json(const explained_boundary& boundary);

} // namespace gatehouse::cli
