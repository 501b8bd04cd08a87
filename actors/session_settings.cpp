#include "actors/attempt_launch.hpp"
#include "actors/patch_runtime.hpp"
#include "actors/session_refusals.hpp"
#include "actors/session_thread.hpp"
#include "actors/shell_runtime.hpp"
#include "protocol/approval_policy_json.hpp"
#include "protocol/profile_json.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

/// Other settings for a thread that lives: its part of actors/session_thread.hpp.
namespace gatehouse::actors {

void session_thread::begin_runtimes() {
  now_->boundary = terms_.boundary;
  now_->search = terms_.judgement.search;
  terms_.judgement.context = terms_.session.context;
  if (!terms_.shell.remote) // patches are applied to files of this machine only
    partners_.patches =
        system().spawn<patch_runtime>(patch_runtime_terms{terms_.shell, terms_.patch_program});
  if (terms_.session.network) add_network();
  partners_.runtime = system().spawn<shell_runtime>(terms_.shell);
}

audit_record session_thread::settings_entry(const thread_terms& terms) {
  const auto& session = terms.session;
  return entry(audit_kind::session, {},
               audit_session(audit_.program, audit_.version, session.cwd,
                             encode_approval_policy(session.approval),
                             encode_profile(session.profile), session.backend));
}

void session_thread::on(const thread_messages::update_settings& m) {
  const auto answer = [done = m.done](const result<void>& how) {
    if (done) done(how);
  };
  if (closing_) return answer(wrong_order("the thread is closing"));
  if (m.terms->shell.remote != terms_.shell.remote)
    return answer(error{errc::invalid_request,
                        "the environment '" + terms_.session.environment_id +
                            "' is another machine, or has another token, than when this thread was "
                            "opened; nothing was changed",
                        "Open a new thread to work there."});
  if (!partners_.auditor) {
    adopt(m);
    return answer({});
  }
  when_recorded(settings_entry(*m.terms), [this, m, answer](const std::string& why_not) {
    if (!why_not.empty())
      return answer(
          error{errc::io, "nothing was changed, since it could not be recorded: " + why_not, {}});
    if (closing_) return answer(wrong_order("the thread is closing"));
    adopt(m);
    answer({});
  });
}

void session_thread::look_at_settings() {
  settings_error_.reset();
  if (!terms_.look_at_settings) return;
  auto found = terms_.look_at_settings();
  if (!found) {
    settings_error_ = found.error();
    return;
  }
  if (!*found) return;
  const thread_messages::update_settings order{
      (*found)->terms, std::move((*found)->roots), std::move((*found)->profile), {}};
  // Recorded in the order of what happens: before the attempt of the call that is looked for.
  if (partners_.auditor) when_recorded(settings_entry(*order.terms), [](const std::string&) {});
  adopt(order);
}

void session_thread::adopt(const thread_messages::update_settings& m) {
  auto next = *m.terms;
  keep_hidden(terms_.shell, next.shell);
  // What is made once for a thread.
  next.id = terms_.id;
  next.retained_bytes = terms_.retained_bytes;
  next.guardian = terms_.guardian;
  next.auto_review = terms_.auto_review;
  const auto mode = next.hooks.context.permission_mode;
  next.hooks = terms_.hooks;
  next.hooks.context.permission_mode = now_->hooks.permission_mode = mode;
  next.shell.loop = terms_.shell.loop;
  next.shell.on_output = terms_.shell.on_output;
  next.shell.slots = terms_.shell.slots;
  next.shell.max_running = terms_.shell.max_running;
  next.shell.attach_network = {};
  terms_ = std::move(next);

  const bool strict = now_->session.strict_review && !turn_.empty(); // asked for this turn
  now_->session = terms_.session;
  now_->session.strict_review = now_->session.strict_review || strict;
  // What was given and remembered was meant for the settings that it was given under.
  ++now_->rules_generation;
  memory_->approvals.clear();
  memory_->hosts->forget_kept(); // the rules have them
  for (const auto& host : memory_->hosts->list())
    memory_->hosts->revoke(host.id);
  for (const auto& grant : std::vector{grants_.list()})
    grants_.revoke(grant.id);

  retire();
  begin_runtimes();
  publish(thread_events::settings_changed{terms_.session.cwd, m.roots,
                                          encode_approval_policy(terms_.session.approval),
                                          m.profile},
          turn_);
}

// Calls that run go on where they began.
void session_thread::retire() {
  const auto put_aside = [this](auto& partner) {
    if (partner) retired_.push_back(caf::actor_cast<caf::actor>(partner));
    partner = nullptr;
  };
  put_aside(partners_.patches);
  put_aside(partners_.network);
  put_aside(partners_.runtime);
  if (turn_over_) retired_turns_.push_back(std::exchange(turn_over_, {}));
  dismiss_retired();
}

void session_thread::dismiss_retired() {
  if (retired_.empty() || !running_.empty() || !background_.empty()) return;
  for (const auto& one : std::exchange(retired_, {}))
    caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
  retired_turns_.clear();
}

} // namespace gatehouse::actors
