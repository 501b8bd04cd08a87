#pragma once

#include "actors/call_flow.hpp"
#include "cli/settings_options.hpp"
#include "policy/access.hpp"
#include "protocol/result.hpp"
#include "sandbox/program_lookup.hpp"

#include <optional>
#include <string>

namespace gatehouse::cli {

/// A call as the configuration and the handler see it, before any rule is asked.
struct planned_call {
  actors::call_plan plan; ///< ids are left to the caller
  policy::access_context context;
  sandbox::program_search search;
  std::optional<exec_requirement> handler_refusal; ///< §5, §14
};

/// Joins a proposal with the configuration: profile, overlay, protections, approval policy (§6).
/// Errors are about the configuration or the profile; what the handler refuses is no error.
/// @param path $PATH of the command
result<planned_call> plan_call(const start_point& at, proposal what, std::string path);

} // namespace gatehouse::cli
