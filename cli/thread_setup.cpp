#include "cli/thread_setup.hpp"

#include "actors/random_id.hpp"
#include "cli/audit_reading.hpp"
#include "cli/guard_programs.hpp"
#include "cli/guardian_start.hpp"
#include "cli/output.hpp"
#include "cli/own_program.hpp"
#include "cli/session_start.hpp"
#include "config/amendment.hpp"
#include "config/environments.hpp"
#include "config/hooks.hpp"
#include "config/live_rules.hpp"
#include "config/live_token_files.hpp"
#include "config/rule_loader.hpp"
#include "config/user_shell.hpp"
#include "policy/environment_policy.hpp"
#include "protocol/profile_json.hpp"
#include "protocol/shell_quote.hpp"
#include "sandbox/command_environment.hpp"

#include <cstdlib>
#include <utility>

#include <unistd.h>

namespace gatehouse::cli {
namespace {

std::vector<std::string> command_environment() {
  std::size_t count = 0;
  while (environ[count])
    ++count;
  return sandbox::inherited_environment({environ, count});
}

/// The user's hooks, and what they are told of this run: it is a session and a turn of its own.
result<actors::hook_settings> hooks_of(const start_point& start, std::string_view label) {
  auto handlers = config::load_hooks(start.where);
  if (!handlers) return handlers.error();
  auto rules = actors::hook_rules::compile(*std::move(handlers));
  if (!rules) return rules.error();
  actors::hook_settings hooks;
  hooks.rules = *std::move(rules);
  hooks.context.session_id = hooks.context.turn_id = std::string{label} + "-" + actors::random_id();
  hooks.context.permission_mode = start.loaded.settings.approval.value.mode == approval_mode::never
                                      ? "bypassPermissions"
                                      : "default";
  hooks.place = {beside_me("gatehouse-sandbox"), start.cwd, command_environment()};
  return hooks;
}

/// What protecting the files of a guard does not reach: what they load from the folders that
/// commands may write.
std::vector<std::string> open_guards(const start_point& start,
                                     const actors::session_terms& session) {
  std::vector<std::string> warnings;
  const auto guards = guard_programs(start.where, start.loaded.settings, start.cwd);
  if (!guards || session.profile.kind == profile_kind::disabled) return warnings;
  auto context = session.context;
  context.protected_paths.clear();
  const auto writable = [&](const std::string& path) {
    return policy::evaluate_access(session.profile, context, path).granted == access::write;
  };
  for (const auto& guard : *guards) {
    if (!guard.is_there) continue;
    for (const auto& file : guard.is.files)
      if (writable(file)) {
        warnings.push_back(guard.name + ": " + shell_quote(file) +
                           " lies where commands may write. They cannot change this file, but what "
                           "it loads from there; keep it outside of the workspace");
        break;
      }
    for (const auto& folder : guard.is.folders)
      if (writable(folder))
        warnings.push_back(guard.name + ": runs the folder " + shell_quote(folder) +
                           ", which commands may write, outside the sandbox; keep it outside of "
                           "the workspace");
  }
  return warnings;
}

/// Keeps an approved rule and reads all rules anew (§42).
actors::rules_result keep_rule(const start_point& start, const config::rule_load_options& options,
                               const actors::approved_rule& rule) {
  const auto line = config::prefix_rule_line(rule.prefix, rule.keeps_sandbox);
  if (!line) return line.error();
  if (const auto kept = config::append_rule(start.where.gatehouse_home, *line); !kept)
    return kept.error();
  auto rules = config::load_rules(start.where, start.loaded, options);
  if (!rules) return rules.error();
  return std::move(rules->rules);
}

actors::thread_terms terms_for(const start_point& start, actors::session_terms session,
                               std::shared_ptr<config::live_rules> live,
                               const std::shared_ptr<const policy::rule_set>& rules,
                               const config::rule_load_options& rule_options) {
  const auto& settings = start.loaded.settings;
  actors::thread_terms terms;
  terms.judgement.rules = rules;
  terms.look_at_rules = [live = std::move(live)]() -> result<actors::rules_now> {
    const auto now = live->current();
    if (!now) return now.error();
    return actors::rules_now{(*now)->rules, live->take_warnings()};
  };
  const char* path = std::getenv("PATH");
  terms.judgement.search = {start.cwd, start.where.user_home, path ? path : "",
                            sandbox::writable_roots_of(session.profile, session.context)};
  terms.shell.helper = beside_me("gatehouse-sandbox");
  terms.patch_program = beside_me("gatehouse-sandbox-patch");
  auto variables = policy::select_environment(config::variable_rules(settings),
                                              policy::read_environment(command_environment()));
  policy::add_session_variables(variables);
  terms.shell.environment = policy::to_entries(variables);
  terms.shell.context = session.context;
  for (const auto& name : settings.protected_names)
    terms.shell.protected_names.push_back(name.value);
  // A command that reads a reviewer's token tells it to the agent (§D13).
  // And what one agent did is nothing that another one should read.
  terms.shell.hidden_paths = {start.where.state + "/tokens", audit_folder(start.where)};
  if (const auto& key = settings.auto_review_endpoint.value.key_file; !key.empty())
    terms.shell.hidden_paths.push_back(key);
  terms.shell.default_timeout = settings.default_timeout.value;
  terms.terminal_hard_limit = settings.terminal_hard_limit.value;
  terms.terminal_idle_limit = settings.terminal_idle_limit.value;
  terms.auto_review = settings.reviewer.value == config::approvals_reviewer::auto_review;
  terms.boundary = "permission profile " + encode_profile(session.profile);
  terms.nobody_reason = "no one can be asked here: run it at a terminal, add a rule, or change the "
                        "approval policy";
  // Terms are copied for each actor of a thread: what is large in them is shared.
  terms.keep_rule = [shared = std::make_shared<const start_point>(start),
                     rule_options](const actors::approved_rule& rule) {
    return keep_rule(*shared, rule_options, rule);
  };
  if (session.network)
    for (auto& rule : policy::domain_rules_of(rules->network_rules()))
      session.network->rules.push_back(std::move(rule));
  terms.keep_host = [home = start.where.gatehouse_home](const host_key& key,
                                                        bool allow) -> result<void> {
    const auto line = config::network_rule_line(key, allow);
    const auto saved =
        line ? config::append_rule(home, *line) : result<config::amendment_outcome>{line.error()};
    if (saved) return {};
    complain(saved.error()); // a program that ends now hears of it no other way
    return saved.error();
  };
  terms.session = std::move(session);
  return terms;
}

} // namespace

result<thread_setup> set_up_thread(const start_point& start, std::vector<std::string> rule_files,
                                   reactor::event_loop& loop, std::string_view label) {
  config::rule_load_options rule_options;
  rule_options.files = std::move(rule_files);
  rule_options.cwd = start.cwd;
  const auto live = std::make_shared<config::live_rules>(start.where, start.cwd, start.command_line,
                                                         rule_options);
  const auto in_force = live->current();
  if (!in_force) return in_force.error();
  auto session = session_terms_of(start, config::user_shell());
  if (!session) return session.error();
  for (auto& file : live->files_elsewhere())
    session->context.protected_paths.push_back(std::move(file));
  auto hooks = hooks_of(start, label);
  if (!hooks) return hooks.error();
  auto guardian = guardian_of(start.loaded.settings, command_environment(), loop);
  if (!guardian) return guardian.error();
  auto named = config::load_environments(start.where);
  if (!named) return named.error();
  auto unknown_keys = std::move(named->warnings);
  auto places = known_places::read(*named);
  if (!places) return places.error();
  thread_setup made{terms_for(start, *std::move(session), live, (*in_force)->rules, rule_options),
                    live->take_warnings(), *std::move(places), live};
  for (auto& warning : unknown_keys)
    made.warnings.push_back(std::move(warning));
  made.terms.shell.hidden_since = [tokens = std::make_shared<config::live_token_files>(
                                       start.where, *named)] { return tokens->now(); };
  if (auto notice = config::unusable_shell_notice(); !notice.empty())
    made.warnings.push_back(std::move(notice));
  for (auto& warning : open_guards(start, made.terms.session))
    made.warnings.push_back(std::move(warning));
  made.terms.hooks = *std::move(hooks);
  made.terms.guardian = *std::move(guardian);
  if (made.terms.session.profile.kind == profile_kind::disabled)
    made.warnings.emplace_back("full access: no boundary of ours is around these commands; only "
                               "for disposable machines");
  return made;
}

} // namespace gatehouse::cli
