#include "actors/endpoint/app_methods.hpp"
#include "actors/endpoint/refusals.hpp"

#include <utility>

namespace gatehouse::actors {

namespace app = rpc::app;

void tool_methods::operator()(app::methods::tool_call, const app::tool_call_params& p) const {
  const auto entry = need(p.thread_id);
  if (entry) session.calls().begin(*entry, p, done);
}

void tool_methods::operator()(app::methods::tool_cancel, const app::tool_cancel_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  entry->handle.send(thread_messages::cancel_call{p.call_id});
  ok(app::nothing{});
}

void tool_methods::operator()(app::methods::policy_explain, const app::explain_params& p) const {
  if (p.tool && *p.tool != "shell_command")
    return done(wrong_params("only shell_command can be explained"));
  std::string cwd;
  if (p.thread_id) {
    const auto entry = need(*p.thread_id);
    if (!entry) return;
    cwd = entry->opening.terms.session.cwd;
  }
  auto told = session.services().explain(cwd, p.arguments);
  if (told)
    done(*std::move(told));
  else
    done(failure_of(told.error()));
}

void tool_methods::operator()(app::methods::profile_list, const app::nothing&) const {
  auto known = session.services().profiles();
  if (!known) return done(failure_of(known.error()));
  ok(app::profile_list_result{*std::move(known)});
}

} // namespace gatehouse::actors
