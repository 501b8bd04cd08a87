#include "actors/endpoint/app_methods.hpp"
#include "actors/endpoint/command_terms.hpp"
#include "actors/endpoint/refusals.hpp"
#include "protocol/explain_json.hpp"

#include <utility>

namespace gatehouse::actors {

namespace app = rpc::app;

void tool_methods::operator()(app::methods::tool_call, const app::tool_call_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  if (p.call_id.starts_with(command_prefix)) return done(not_a_clients("callId"));
  const auto limit = session.services().limits.in_flight;
  if (session.unsent() >= limit)
    return done(overloaded("answers wait for this client to read them; try again when it has",
                           session.unsent(), limit));
  entry->calls->begin(entry->handle, p, session.calls(), done);
}

void tool_methods::operator()(app::methods::tool_cancel, const app::tool_cancel_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  if (!entry->calls->knows(p.call_id)) return done(no_call(p.call_id));
  entry->handle.send(thread_messages::cancel_call{p.call_id});
  ok(app::nothing{});
}

void tool_methods::operator()(app::methods::policy_explain, const app::explain_params& p) const {
  if (p.request_id) return explain_question(p);
  if (!p.arguments)
    return done(wrong_params("`arguments` of the tool are missing; or name a question that stands "
                             "with `threadId` and `requestId`"));
  const auto tool = p.tool.value_or("shell_command");
  if (!p.thread_id) {
    auto told = session.services().explain(tool, *p.arguments);
    return done(told ? rpc_outcome{*std::move(told)} : failure_of(told.error()));
  }
  const auto entry = need(*p.thread_id);
  if (!entry) return;
  // The words of the tool and no others: what differs from the thread is no call in it.
  auto arguments = decode_tool_arguments(tool, rpc::to_json(*p.arguments));
  if (!arguments) return done(failure_of(arguments.error()));
  using explained = thread_messages::explained_call;
  entry->handle.send(thread_messages::explain_call{
      *std::move(arguments), [done = done](const result<explained>& what) {
        done(what ? rpc_outcome{encode_explanation(what->evaluation, what->sandbox)}
                  : failure_of(what.error()));
      }});
}

void tool_methods::explain_question(const app::explain_params& p) const {
  if (!p.thread_id || p.tool || p.arguments)
    return done(wrong_params("beside `requestId` stands `threadId`, and neither `tool` nor "
                             "`arguments`: it names the question, which has its call"));
  // Hooks may have changed the call: what its question says is not for the agent.
  if (session.who() != authority::reviewer)
    return done(refused("`requestId` is for a reviewer, and this connection has an agent's "
                        "authority; explain the call by its `arguments`",
                        "authority"));
  const auto entry = need(*p.thread_id);
  if (!entry) return;
  const auto* question = entry->watch->find_question(*p.request_id);
  if (!question)
    return done(refused("no question stands under the id " + shown(*p.request_id) +
                            "; it was answered, withdrawn, or has expired. approval/list has those "
                            "that stand, `gatehouse audit why CALL` what became of a call",
                        "unknownQuestion"));
  auto told = encode_explanation(*question->what);
  done(told ? rpc_outcome{*std::move(told)} : failure_of(told.error()));
}

void tool_methods::operator()(app::methods::profile_list, const app::nothing&) const {
  auto known = session.services().profiles();
  if (!known) return done(failure_of(known.error()));
  ok(app::profile_list_result{*std::move(known)});
}

} // namespace gatehouse::actors
