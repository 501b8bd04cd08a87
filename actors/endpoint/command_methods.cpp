#include "actors/endpoint/app_methods.hpp"
#include "actors/endpoint/refusals.hpp"

namespace gatehouse::actors {

namespace app = rpc::app;

void command_methods::operator()(app::methods::command_exec,
                                 const app::command_exec_params& p) const {
  if (!p.thread_id)
    return done(wrong_params("field `threadId` is missing: a command is judged by the policy of a "
                             "thread; thread/start opens one"));
  const auto entry = need(*p.thread_id);
  if (!entry) return;
  const auto limit = session.services().limits.in_flight;
  if (session.unsent() >= limit)
    return done(overloaded("answers wait for this client to read them; try again when it has",
                           session.unsent(), limit));
  session.commands().exec(entry, p, done);
}

void command_methods::operator()(app::methods::command_write,
                                 const app::command_write_params& p) const {
  session.commands().write(p, done);
}

void command_methods::operator()(app::methods::command_resize,
                                 const app::command_resize_params& p) const {
  session.commands().resize(p, done);
}

void command_methods::operator()(app::methods::command_terminate,
                                 const app::command_params& p) const {
  session.commands().terminate(p.process_id, done);
}

} // namespace gatehouse::actors
