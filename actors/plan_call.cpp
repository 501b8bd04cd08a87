#include "actors/session_terms.hpp"

#include "actors/grants.hpp"
#include "policy/machine_path.hpp"
#include "policy/overlay.hpp"
#include "protocol/shell_argv.hpp"

#include <utility>

namespace gatehouse::actors {
namespace {

exec_requirement refused_by_handler(std::string reason) {
  exec_requirement requirement;
  requirement.kind = requirement_kind::forbidden;
  requirement.reason = std::move(reason);
  requirement.refused_by = refused_by::handler;
  return requirement;
}

} // namespace

planned_call plan_call(const session_terms& terms, const shell_request& request,
                       const additional_permissions& granted) {
  planned_call made;
  auto& plan = made.plan;
  plan.approval = terms.approval;
  plan.strict_review = terms.strict_review;
  plan.profile = terms.profile;
  plan.policy_cwd = terms.cwd;
  plan.workspace_roots = terms.context.project_roots;
  plan.real_roots = terms.real_roots;
  plan.backend = terms.backend;
  plan.managed_network = terms.network.has_value();
  const auto* script = std::get_if<std::string>(&request.command);
  plan.what.argv = script ? shell_argv(terms.shell, *script, request.login)
                          : std::get<std::vector<std::string>>(request.command);
  const auto folder = request.workdir.empty()
                          ? result<std::string>{terms.cwd}
                          : policy::folder_below(terms.paths, terms.cwd, request.workdir);
  plan.what.cwd = folder ? *folder : terms.cwd;
  plan.what.environment_id = terms.environment_id;
  plan.what.timeout = request.timeout;
  plan.what.time_cap = request.time_cap;
  plan.what.login = request.login;
  plan.what.sandbox_permissions = request.sandbox_permissions;
  plan.what.additional_permissions = request.additional_permissions;
  // What is shown, keyed and opened is where a link leads, not its name.
  if (plan.what.additional_permissions && terms.environment_id == "local")
    plan.what.additional_permissions =
        with_real_paths(*std::move(plan.what.additional_permissions));
  plan.what.justification = request.justification;
  plan.what.prefix_rule = request.prefix_rule;

  if (!folder) {
    made.handler_refusal = refused_by_handler(to_string(folder.error()));
    return made;
  }
  if (plan.what.argv.empty()) {
    made.handler_refusal = refused_by_handler("the command is empty");
    return made;
  }
  if (request.login && !terms.login_switched_off_by.empty()) {
    made.handler_refusal =
        refused_by_handler("login shells are switched off by " + terms.login_switched_off_by +
                           "; ask again without login");
    return made;
  }
  auto merged = merge_grants(std::move(plan.what), granted, terms.context);
  plan.what = std::move(merged.what);
  plan.permissions_preapproved = merged.preapproved;
  const auto valid =
      policy::validate_overlay({plan.what.sandbox_permissions, plan.what.additional_permissions,
                                plan.approval, terms.additional_permissions, merged.preapproved});
  if (!valid) {
    made.handler_refusal = refused_by_handler(to_string(valid.error()));
  } else if (plan.what.additional_permissions) {
    const auto overlay = policy::normalise_overlay(*plan.what.additional_permissions);
    plan.opens_protected = without_protected(overlay, plan.profile, terms.context).closed;
    auto widened = policy::apply_overlay(
        plan.profile, needed_part(overlay, plan.profile, terms.context), terms.context);
    if (widened)
      plan.widened_profile = std::move(*widened);
    else
      made.handler_refusal = refused_by_handler(to_string(widened.error()));
  }
  return made;
}

} // namespace gatehouse::actors
