#include "cli/follow_settings.hpp"

#include "actors/real_places.hpp"
#include "actors/sha256.hpp"
#include "protocol/approval_policy_json.hpp"
#include "protocol/profile_json.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace gatehouse::cli {
namespace {

/// Without the rules of rule files, which a thread reads by itself.
std::optional<policy::domain_policy> configured_network(const actors::thread_terms& terms) {
  auto network = terms.session.network;
  if (network) std::erase_if(network->rules, [](const auto& rule) { return rule.protocol; });
  return network;
}

/// What makes terms other terms, kept small: a thread keeps it for as long as it lives.
struct compared {
  actors::sha256_hash digest;
  std::optional<policy::domain_policy> network;

  bool operator==(const compared&) const = default;
};

/// Each value with its length before it, so that no two lists of values are written alike.
class value_writer {
public:
  void text(std::string_view value) {
    bytes_ += std::to_string(value.size()) + ":" + std::string{value};
  }
  void number(std::int64_t value) { text(std::to_string(value)); }
  void list(const std::vector<std::string>& values) {
    number(static_cast<std::int64_t>(values.size()));
    for (const auto& value : values)
      text(value);
  }
  [[nodiscard]] actors::sha256_hash digest() const { return actors::sha256_of(bytes_); }

private:
  std::string bytes_;
};

compared compared_of(const actors::thread_terms& terms) {
  const auto& session = terms.session;
  value_writer out;
  out.text(encode_profile(session.profile));
  out.text(encode_approval_policy(session.approval));
  out.text(session.cwd);
  out.number(static_cast<std::int64_t>(session.backend));
  out.text(session.shell);
  out.number(session.strict_review ? 1 : 0);
  out.number(session.additional_permissions ? 1 : 0);
  out.text(session.login_switched_off_by);
  out.list(session.context.project_roots);
  out.list(session.context.protected_names);
  out.list(session.context.protected_paths);
  out.list(terms.shell.protected_names);
  out.list(terms.shell.hidden_paths);
  out.list(terms.shell.environment);
  out.number(terms.shell.default_timeout.count());
  out.number(terms.terminal_hard_limit.count());
  out.number(terms.terminal_idle_limit.count());
  return {out.digest(), configured_network(terms)};
}

struct followed {
  std::shared_ptr<config::live_rules> live;
  std::function<result<actors::terms_now>()> reopen;
  /// Empty at first: what was read before it was looked at for the first time may be older.
  std::shared_ptr<const config::rules_in_force> seen;
  /// Of the terms that the thread has.
  compared values;
  std::string cwd, environment_id;
  actors::real_folders real_roots;
  std::shared_ptr<actors::remote_environment> remote;
  std::vector<std::string> roots; ///< that were wished for, as they were found; may be empty
};

result<std::optional<actors::terms_now>> look(followed& thread) {
  const auto now = thread.live->current();
  if (!now) return now.error();
  if (*now == thread.seen) return std::optional<actors::terms_now>{};
  // Refused by the thread itself: no change of the configuration moves it.
  if (actors::moved_folder(thread.real_roots)) return std::optional<actors::terms_now>{};
  auto next = thread.reopen();
  if (!next)
    return error{next.error().code,
                 "the configuration has changed since this session began, which cannot go on under "
                 "it: " +
                     next.error().message,
                 next.error().remedy};
  if (next->terms->shell.remote != thread.remote)
    return error{errc::invalid_request,
                 "the configuration has changed since this session began: the environment `" +
                     thread.environment_id + "` is another machine now, or has another token",
                 "Begin a new session to work there."};
  // Between the look and the opening, too.
  const auto& after = next->terms->session;
  if (after.cwd != thread.cwd || (!thread.roots.empty() && next->roots != thread.roots) ||
      actors::moved_folder(thread.real_roots))
    return error{errc::boundary_failed,
                 "a folder of this session leads elsewhere than when the session began",
                 "Begin a new session."};
  thread.seen = *now;
  if (compared_of(*next->terms) == thread.values) return std::optional<actors::terms_now>{};
  return std::optional{*std::move(next)};
}

} // namespace

void follow_settings(actors::thread_terms& terms, std::vector<std::string> roots,
                     std::shared_ptr<config::live_rules> live,
                     std::function<result<actors::terms_now>()> reopen) {
  const auto& session = terms.session;
  const auto thread = std::make_shared<followed>(
      followed{std::move(live), std::move(reopen), nullptr, compared_of(terms), session.cwd,
               session.environment_id, session.real_roots, terms.shell.remote, std::move(roots)});
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
