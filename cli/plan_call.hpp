#pragma once

#include "actors/call_flow.hpp"
#include "cli/settings_options.hpp"
#include "policy/access.hpp"
#include "protocol/result.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse::cli {

/// One tool call as it is asked for (§4); what is unset is as configured.
struct call_wish {
  std::vector<std::string> argv; ///< what would run
  std::optional<std::chrono::milliseconds> timeout;
  bool login = false;
  gatehouse::sandbox_permissions sandbox_permissions = gatehouse::sandbox_permissions::use_default;
  std::optional<gatehouse::additional_permissions> additional_permissions;
  std::string justification;
  std::vector<std::string> prefix_rule;
};

/// A call under the configuration of `start`, ready to be judged.
struct planned_call {
  actors::call_plan plan;
  std::optional<policy::domain_policy> network; ///< set: the network, where it is on, is managed
  policy::access_context context;               ///< what the profile's symbolic paths mean
  /// What the tool handler refuses before any rule is asked (§5, §14).
  std::optional<exec_requirement> handler_refusal;
};

/// The one way from settings and wish to a plan, for running and for explaining. Errors are about
/// the configuration (an unknown profile, …).
result<planned_call> plan_call(const start_point& start, call_wish wish);

} // namespace gatehouse::cli
