#include "actors/endpoint/app_methods.hpp"
#include "actors/endpoint/refusals.hpp"
#include "protocol/rpc/app_events.hpp"

namespace gatehouse::actors {

namespace app = rpc::app;
namespace say = thread_messages;

void approval_methods::operator()(app::methods::approval_list,
                                  const app::approval_list_params& p) const {
  if (p.thread_id && !need(*p.thread_id)) return;
  app::approval_list_result told;
  for (const auto& entry : session.services().threads.list())
    if (!p.thread_id || *p.thread_id == entry->handle.id())
      for (const auto& q : entry->watch->questions())
        told.data.push_back(
            app::approval_of(entry->handle.id(), {q.turn_id, q.seq, q.unix_ms}, *q.what));
  ok(told);
}

std::function<void(const result<void>&)> approval_methods::taken_or_not() const {
  return [done = done](const result<void>& taken) {
    if (taken)
      done(std::string{"{}"});
    else
      done(refused(to_string(taken.error()), "notTaken"));
  };
}

void approval_methods::operator()(app::methods::approval_resolve,
                                  const app::approval_resolve_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  const auto* question = entry->watch->find_question(p.request_id);
  if (!question)
    return done(refused("no question stands under the id `" + p.request_id +
                            "`; it was answered or withdrawn",
                        "notTaken"));
  const auto decision = app::decision_from(p.decision, *question->what);
  if (!decision)
    return done(wrong_params("this decision was not on offer; see availableDecisions"));
  auto given = app::given_from({p.permissions, p.scope, p.strict_auto_review}, *question->what,
                               decision->what);
  if (!given) return done(wrong_params(to_string(given.error())));
  say::answer_review said{p.request_id, p.action_digest, decision->what, p.reason.value_or(""), {}};
  said.denies_host = decision->denies_host;
  said.permissions = *std::move(given);
  said.done = taken_or_not();
  entry->handle.send(std::move(said));
}

void approval_methods::operator()(app::methods::approval_allow_refused,
                                  const app::allow_refused_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  entry->handle.send(say::allow_refused{p.action_digest, taken_or_not()});
}

void approval_methods::operator()(app::methods::grant_revoke, const app::revoke_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  using kind = say::revoke::kind;
  const auto what = p.kind == app::grant_kind::grant      ? kind::grant
                    : p.kind == app::grant_kind::approval ? kind::approval
                                                          : kind::host;
  entry->handle.send(say::revoke{what, static_cast<std::uint64_t>(p.id), [done = done](bool found) {
                                   done(rpc::to_json(app::revoke_result{found}));
                                 }});
}

} // namespace gatehouse::actors
