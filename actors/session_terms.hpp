#pragma once

#include "actors/call_flow.hpp"
#include "actors/real_places.hpp"
#include "policy/access.hpp"
#include "policy/domain_policy.hpp"
#include "protocol/approval_policy.hpp"
#include "protocol/path_uri.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/tool_request.hpp"
#include "sandbox/choose_backend.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// What holds for every call of a session: the configuration after all its layers.
struct session_terms {
  std::string environment_id = "local"; ///< the machine that its calls run on (§7)
  /// How that machine writes its paths; a session holds them rooted (§8, protocol/path_uri.hpp).
  path_convention paths = path_convention::posix;
  std::string cwd; ///< absolute, of that machine
  approval_policy approval;
  permission_profile profile;
  /// What the profile's symbolic paths and protections mean; its `project_roots` are the
  /// workspace.
  policy::access_context context;
  /// `cwd` and the project roots as they really were when the session began. A call does not run
  /// where one of them leads elsewhere. Empty: they are on another machine.
  real_folders real_roots;
  sandbox_backend backend = sandbox_backend::none;
  /// Set: whenever the network is on, it is the managed one with this policy (§66).
  std::optional<policy::domain_policy> network;
  bool strict_review = false;         ///< even `skip` is reviewed (§49)
  bool additional_permissions = true; ///< may a call bring an overlay at all (§14)?
  std::string login_switched_off_by;  ///< the setting that forbids login shells (§5); empty: none
  std::string shell;                  ///< absolute path; scripts are given to it (§4)
};

/// A call of a session, ready to be judged.
struct planned_call {
  call_plan plan; ///< without ids
  /// What the tool handler refuses before any rule is asked (§5, §14).
  std::optional<exec_requirement> handler_refusal;
};

/// The one way from terms and request to a plan, for running and for explaining.
/// @param granted what sticky grants give to a call here and now (§15)
planned_call plan_call(const session_terms& terms, const shell_request& request,
                       const additional_permissions& granted = {});

} // namespace gatehouse::actors
