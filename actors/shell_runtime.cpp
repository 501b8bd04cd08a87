#include "actors/shell_runtime.hpp"

#include "actors/shell_attempt.hpp"

#include <caf/actor_system.hpp>

#include <utility>

namespace gatehouse::actors {

shell_runtime::shell_runtime(caf::actor_config& config, shell_terms terms)
    : runtime_actor::base{config}, terms_{std::move(terms)} {}

void shell_runtime::on_exit() {
  for (auto& [call, worker] : running_)
    send(worker, cancel_v, call);
  running_.clear();
}

shell_runtime::behavior_type shell_runtime::make_behavior() {
  set_down_handler([this](const caf::down_msg& down) {
    std::erase_if(running_, [&](const auto& entry) {
      return caf::actor_cast<caf::actor_addr>(entry.second) == down.source;
    });
  });
  return {
      [this](run_atom, const attempt_ptr& what) -> caf::result<attempt_result_ptr> {
        auto worker = system().spawn<shell_attempt>(terms_);
        monitor(worker);
        running_[(*what)->call_id] = worker;
        return delegate(worker, run_v, what);
      },
      [this](cancel_atom, const std::string& call) {
        if (const auto found = running_.find(call); found != running_.end())
          send(found->second, cancel_v, call);
      },
  };
}

} // namespace gatehouse::actors
