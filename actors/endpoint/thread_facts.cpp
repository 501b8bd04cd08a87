#include "actors/endpoint/thread_facts.hpp"

namespace gatehouse::actors {

namespace app = rpc::app;

app::thread_status status_of(const thread_watch& watch) {
  app::thread_status status;
  if (watch.active()) status.type = app::thread_state::active;
  if (watch.waits_for_approval())
    status.active_flags.push_back(app::active_flag::waiting_on_approval);
  return status;
}

app::thread_info info_of(const thread_entry& entry) {
  app::thread_info info;
  info.id = entry.handle.id();
  info.status = status_of(*entry.watch);
  const auto& session = entry.opening.terms.session;
  info.environments = {{session.environment_id, session.cwd}};
  info.cwd = session.cwd;
  info.runtime_workspace_roots = entry.opening.roots;
  info.approval_policy = {entry.opening.approval_policy};
  info.sandbox = entry.opening.profile;
  info.open_turn_id = entry.watch->open_turn();
  info.last_seq = static_cast<std::int64_t>(entry.watch->last_seq());
  return info;
}

} // namespace gatehouse::actors
