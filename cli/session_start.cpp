#include "cli/session_start.hpp"

#include <utility>

namespace gatehouse::cli {

result<actors::session_terms> session_terms_of(const start_point& start, std::string shell) {
  const auto& settings = start.loaded.settings;
  auto chosen = choose_profile(start);
  if (!chosen) return chosen.error();
  actors::session_terms terms;
  terms.cwd = start.cwd;
  terms.approval = settings.approval.value;
  terms.profile = std::move(chosen->profile);
  terms.network = std::move(chosen->network);
  auto context =
      access_context_of(settings, start.where, start.cwd, std::move(chosen->project_roots));
  if (!context) return context.error();
  terms.context = *std::move(context);
  auto roots = terms.context.project_roots;
  roots.push_back(terms.cwd);
  terms.real_roots = actors::really(roots);
  const auto backend = chosen_backend(settings);
  if (!backend) return backend.error();
  terms.backend = *backend;
  terms.strict_review = settings.strict_auto_review.value;
  terms.additional_permissions = settings.additional_permissions.value;
  if (!settings.allow_login_shell.value)
    terms.login_switched_off_by = config::describe(settings.allow_login_shell.from);
  terms.shell = std::move(shell);
  return terms;
}

} // namespace gatehouse::cli
