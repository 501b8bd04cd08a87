#include "cli/plan_call.hpp"

#include "policy/overlay.hpp"

#include <utility>

namespace gatehouse::cli {
namespace {

exec_requirement refusal(std::string reason) {
  exec_requirement requirement;
  requirement.kind = requirement_kind::forbidden;
  requirement.reason = std::move(reason);
  requirement.refused_by = refused_by::handler;
  return requirement;
}

} // namespace

result<planned_call> plan_call(const start_point& start, call_wish wish) {
  const auto& settings = start.loaded.settings;
  auto chosen = choose_profile(start);
  if (!chosen) return chosen.error();
  planned_call made;
  made.context =
      access_context_of(settings, start.where, start.cwd, std::move(chosen->project_roots));
  auto& plan = made.plan;
  plan.approval = settings.approval.value;
  plan.strict_review = settings.strict_auto_review.value;
  plan.profile = std::move(chosen->profile);
  plan.policy_cwd = start.cwd;
  plan.workspace_roots = made.context.project_roots;
  const auto backend = chosen_backend(settings);
  if (!backend) return backend.error();
  plan.backend = *backend;
  plan.what.argv = std::move(wish.argv);
  plan.what.cwd = start.cwd;
  plan.what.timeout = wish.timeout;
  plan.what.login = wish.login;
  plan.what.sandbox_permissions = wish.sandbox_permissions;
  plan.what.additional_permissions = wish.additional_permissions;
  plan.what.justification = std::move(wish.justification);
  plan.what.prefix_rule = std::move(wish.prefix_rule);

  if (wish.login && !settings.allow_login_shell.value) {
    made.handler_refusal =
        refusal("login shells are switched off by " +
                config::describe(settings.allow_login_shell.from) + "; ask again without login");
    return made;
  }
  const auto valid =
      policy::validate_overlay({wish.sandbox_permissions, wish.additional_permissions,
                                plan.approval, settings.additional_permissions.value, false});
  if (!valid) {
    made.handler_refusal = refusal(to_string(valid.error()));
  } else if (wish.additional_permissions) {
    auto widened = policy::apply_overlay(
        plan.profile, policy::normalise_overlay(*wish.additional_permissions), made.context);
    if (widened)
      plan.widened_profile = std::move(*widened);
    else
      made.handler_refusal = refusal(to_string(widened.error()));
  }
  return made;
}

} // namespace gatehouse::cli
