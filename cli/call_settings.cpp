#include "cli/call_settings.hpp"

#include "policy/overlay.hpp"

#include <utility>

namespace gatehouse::cli {
namespace {

exec_requirement refused_by_handler(std::string reason) {
  exec_requirement requirement;
  requirement.kind = requirement_kind::forbidden;
  requirement.reason = std::move(reason);
  requirement.refused_by = refused_by::handler;
  return requirement;
}

} // namespace

result<planned_call> plan_call(const start_point& at, proposal what, std::string path) {
  const auto& settings = at.loaded.settings;
  auto chosen = choose_profile(at);
  if (!chosen) return chosen.error();

  planned_call call;
  call.context = access_context_of(settings, at.where, at.cwd, std::move(chosen->project_roots));
  auto& plan = call.plan;
  plan.what = std::move(what);
  plan.approval = settings.approval.value;
  plan.profile = std::move(chosen->profile);
  plan.policy_cwd = at.cwd;
  plan.workspace_roots = call.context.project_roots;
  plan.backend = sandbox::platform_backend();
  call.search = {plan.what.cwd, at.where.user_home, std::move(path),
                 sandbox::writable_roots_of(plan.profile, call.context)};

  if (plan.what.login && !settings.allow_login_shell.value) {
    call.handler_refusal = refused_by_handler("login shells are switched off by " +
                                              config::describe(settings.allow_login_shell.from) +
                                              "; ask again without login");
    return call;
  }
  const auto allowed = policy::validate_overlay(
      {plan.what.sandbox_permissions, plan.what.additional_permissions, plan.approval,
       settings.additional_permissions.value, plan.permissions_preapproved});
  if (!allowed) {
    call.handler_refusal = refused_by_handler(to_string(allowed.error()));
  } else if (plan.what.additional_permissions) {
    plan.what.additional_permissions = policy::normalise_overlay(*plan.what.additional_permissions);
    auto widened =
        policy::apply_overlay(plan.profile, *plan.what.additional_permissions, call.context);
    if (widened)
      plan.widened_profile = std::move(*widened);
    else
      call.handler_refusal = refused_by_handler(to_string(widened.error()));
  }
  return call;
}

} // namespace gatehouse::cli
