#include "actors/endpoint/app_methods.hpp"
#include "actors/endpoint/command_terms.hpp"
#include "actors/endpoint/refusals.hpp"
#include "actors/endpoint/thread_facts.hpp"
#include "protocol/profile_json.hpp"
#include "protocol/rpc/app_permissions.hpp"

#include <optional>
#include <utility>

namespace gatehouse::actors {

namespace app = rpc::app;
namespace say = thread_messages;

namespace {

/// A wish that is a name or a JSON object, as text.
std::string name_or_json(const json_tree& tree) {
  if (const auto* name = std::get_if<std::string>(&tree.value)) return *name;
  return rpc::to_json(tree);
}

app::thread_read_result read_result_of(const thread_entry& entry, const say::thread_status& s) {
  app::thread_read_result told;
  told.thread = info_of(entry);
  told.running = s.running;
  for (const auto& g : s.grants)
    told.grants.push_back({static_cast<std::int64_t>(g.id),
                           g.scope == grant_scope::turn ? "turn" : "session", g.turn_id,
                           app::permissions_json(g.permissions)});
  for (const auto& a : s.approvals)
    told.approvals.push_back({static_cast<std::int64_t>(a.id), a.shown});
  if (!s.stopped_because.empty()) told.stopped_because = s.stopped_because;
  for (const auto& h : s.hosts)
    told.hosts.push_back({static_cast<std::int64_t>(h.id), to_string(h.host), h.allowed});
  return told;
}

void end_turn_of(const app_methods_base& in, const app::turn_params& p, say::end_turn how) {
  const auto entry = in.need(p.thread_id);
  if (!entry) return;
  how.turn_id = p.turn_id.value_or("");
  how.done = [done = in.done](const result<void>& ended) {
    done(ended ? rpc_outcome{rpc::to_json(app::nothing{})} : turn_failure(ended.error()));
  };
  entry->handle.send(std::move(how));
}

} // namespace

void thread_methods::operator()(app::methods::thread_start,
                                const app::thread_start_params& p) const {
  if (p.sandbox && p.permissions)
    return done(wrong_params("`sandbox` and `permissions` exclude each other"));
  thread_wishes wishes;
  wishes.from = session.who();
  if (p.environments.size() > 1)
    return done(wrong_params("`environments` names " + std::to_string(p.environments.size()) +
                             " machines; a thread works on one. Start a thread for each"));
  wishes.cwd = p.cwd.value_or("");
  if (!p.environments.empty()) {
    const auto& one = p.environments.front();
    wishes.environment = one.environment_id;
    // A folder of this machine is none of another one.
    if (one.cwd || one.environment_id != "local") wishes.cwd = one.cwd.value_or("");
  }
  wishes.roots = p.runtime_workspace_roots;
  if (p.approval_policy) wishes.approval_policy = name_or_json(*p.approval_policy);
  if (p.sandbox) wishes.profile = *p.sandbox;
  if (p.permissions) wishes.profile = name_or_json(*p.permissions);
  auto& threads = session.services().threads;
  if (const auto full = threads.full_for(session.id())) return done(*full);
  const auto entry = threads.start(wishes, session.id());
  if (!entry) return done(failure_of(entry.error()));
  ok(app::thread_result{info_of(**entry)});
}

void thread_methods::operator()(app::methods::thread_resume,
                                const app::thread_resume_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  std::optional<std::uint64_t> after;
  if (p.after_seq) {
    if (*p.after_seq < 0) return done(wrong_params("`afterSeq` is 0 or more"));
    after = static_cast<std::uint64_t>(*p.after_seq);
    const auto newest = entry->watch->last_seq();
    if (*after > newest)
      return done(refused("`afterSeq` is " + std::to_string(*after) +
                              ", and the newest event of this thread is " + std::to_string(newest) +
                              ": the number is of another thread or another daemon. Leave it out, "
                              "or give 0 for all that is kept",
                          "unknownSeq", rpc::code::invalid_params));
  }
  ok(app::thread_result{info_of(*entry)});
  session.feed().follow(entry, after);
}

void thread_methods::operator()(app::methods::settings_update,
                                const app::settings_update_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  if (p.sandbox && p.permissions)
    return done(wrong_params("`sandbox` and `permissions` exclude each other"));
  auto wishes = entry->wishes;
  wishes.from = session.who();
  if (p.cwd) wishes.cwd = *p.cwd;
  if (!p.runtime_workspace_roots.empty()) wishes.roots = p.runtime_workspace_roots;
  if (p.approval_policy) wishes.approval_policy = name_or_json(*p.approval_policy);
  if (p.sandbox) wishes.profile = *p.sandbox;
  if (p.permissions) wishes.profile = name_or_json(*p.permissions);
  session.services().threads.update(entry, wishes, [done = done, entry](const result<void>& how) {
    if (how)
      done(rpc::to_json(app::thread_result{info_of(*entry)}));
    else
      done(failure_of(how.error()));
  });
}

void thread_methods::operator()(app::methods::thread_unsubscribe,
                                const app::thread_params& p) const {
  if (!need(p.thread_id)) return;
  session.feed().unfollow(p.thread_id);
  ok(app::nothing{});
}

void thread_methods::operator()(app::methods::thread_read, const app::thread_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  entry->handle.send(say::read_status{[done = done, entry](const say::thread_status& s) {
    done(rpc::to_json(read_result_of(*entry, s)));
  }});
}

void thread_methods::operator()(app::methods::thread_list, const app::nothing&) const {
  app::thread_list_result told;
  for (const auto& entry : session.services().threads.list())
    if (session.who() == authority::reviewer || entry->owner == session.id())
      told.data.push_back(info_of(*entry));
  ok(told);
}

void thread_methods::operator()(app::methods::thread_close, const app::thread_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  session.services().threads.close(p.thread_id);
  ok(app::nothing{});
}

void thread_methods::operator()(app::methods::turn_start, const app::turn_start_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  if (p.turn_id && p.turn_id->starts_with(command_prefix)) return done(not_a_clients("turnId"));
  entry->handle.send(
      say::start_turn{p.turn_id.value_or(""),
                      [done = done](const result<std::string>& id) {
                        if (id)
                          done(rpc::to_json(app::turn_result{{*id, app::turn_state::in_progress}}));
                        else
                          done(turn_failure(id.error()));
                      },
                      session.who() == authority::reviewer, p.input.value_or("")});
}

void thread_methods::operator()(app::methods::turn_complete, const app::turn_params& p) const {
  end_turn_of(*this, p, {{}, thread_events::turn_ending::completed, {}});
}

void thread_methods::operator()(app::methods::turn_interrupt,
                                const app::turn_interrupt_params& p) const {
  const auto entry = session.services().threads.find(p.thread_id);
  if (entry && !p.keep_running.value_or(true) &&
      p.turn_id.value_or(entry->watch->open_turn()) == entry->watch->open_turn())
    entry->handle.send(say::clean_terminals{});
  const bool by_user = session.who() == authority::reviewer;
  end_turn_of(*this, {p.thread_id, p.turn_id},
              {{},
               thread_events::turn_ending::interrupted,
               by_user ? "the user interrupted it" : "the agent interrupted it",
               by_user});
}

} // namespace gatehouse::actors
