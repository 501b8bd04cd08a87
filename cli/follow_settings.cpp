#include "cli/follow_settings.hpp"

#include "actors/real_places.hpp"
#include "protocol/approval_policy_json.hpp"
#include "protocol/profile_json.hpp"

#include <optional>
#include <tuple>
#include <utility>

namespace gatehouse::cli {
namespace {

/// Without the rules of rule files, which a thread reads by itself.
std::optional<policy::domain_policy> configured_network(const actors::thread_terms& terms) {
  auto network = terms.session.network;
  if (network) std::erase_if(network->rules, [](const auto& rule) { return rule.protocol; });
  return network;
}

bool hold_the_same(const actors::thread_terms& a, const actors::thread_terms& b) {
  const auto values = [](const actors::thread_terms& t) {
    const auto& s = t.session;
    return std::tuple{encode_profile(s.profile),
                      encode_approval_policy(s.approval),
                      configured_network(t),
                      s.cwd,
                      s.backend,
                      s.shell,
                      s.strict_review,
                      s.additional_permissions,
                      s.login_switched_off_by,
                      s.context.project_roots,
                      s.context.protected_names,
                      s.context.protected_paths,
                      t.shell.protected_names,
                      t.shell.hidden_paths,
                      t.shell.environment,
                      t.shell.default_timeout,
                      t.terminal_hard_limit,
                      t.terminal_idle_limit};
  };
  return values(a) == values(b);
}

struct followed {
  std::shared_ptr<config::live_rules> live;
  std::function<result<actors::terms_now>()> reopen;
  /// Empty at first: what was read before it was looked at for the first time may be older.
  std::shared_ptr<const config::rules_in_force> seen;
  actors::thread_terms terms;     ///< without what follows
  std::vector<std::string> roots; ///< that were wished for, as they were found; may be empty
};

result<std::optional<actors::terms_now>> look(followed& thread) {
  const auto now = thread.live->current();
  if (!now) return now.error();
  if (*now == thread.seen) return std::optional<actors::terms_now>{};
  const auto& before = thread.terms.session;
  // Refused by the thread itself: no change of the configuration moves it.
  if (actors::moved_folder(before.real_roots)) return std::optional<actors::terms_now>{};
  auto next = thread.reopen();
  if (!next)
    return error{next.error().code,
                 "the configuration has changed since this session began, which cannot go on under "
                 "it: " +
                     next.error().message,
                 next.error().remedy};
  if (next->terms->shell.remote != thread.terms.shell.remote)
    return error{errc::invalid_request,
                 "the configuration has changed since this session began: the environment `" +
                     thread.terms.session.environment_id +
                     "` is another machine now, or has another token",
                 "Begin a new session to work there."};
  // Between the look and the opening, too.
  const auto& after = next->terms->session;
  if (after.cwd != before.cwd || (!thread.roots.empty() && next->roots != thread.roots) ||
      actors::moved_folder(before.real_roots))
    return error{errc::boundary_failed,
                 "a folder of this session leads elsewhere than when the session began",
                 "Begin a new session."};
  thread.seen = *now;
  if (hold_the_same(*next->terms, thread.terms)) return std::optional<actors::terms_now>{};
  return std::optional{*std::move(next)};
}

} // namespace

void follow_settings(actors::thread_terms& terms, std::vector<std::string> roots,
                     std::shared_ptr<config::live_rules> live,
                     std::function<result<actors::terms_now>()> reopen) {
  const auto thread = std::make_shared<followed>(
      followed{std::move(live), std::move(reopen), nullptr, terms, std::move(roots)});
  terms.look_at_settings = [thread] { return look(*thread); };
}

void follow_settings(thread_setup& setup, std::function<result<thread_setup>()> reopen) {
  if (setup.terms.shell.remote) return;
  follow_settings(setup.terms, {}, setup.live,
                  [reopen = std::move(reopen)]() -> result<actors::terms_now> {
                    auto again = reopen();
                    if (!again) return again.error();
                    auto roots = again->terms.session.context.project_roots;
                    return actors::terms_now{
                        std::make_shared<const actors::thread_terms>(std::move(again->terms)),
                        std::move(roots),
                        {}};
                  });
}

} // namespace gatehouse::cli
