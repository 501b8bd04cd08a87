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
  return {
      [this](run_atom, const attempt_ptr& what) -> caf::result<attempt_result_ptr> {
        const std::string call = (*what)->call_id;
        auto answer = make_response_promise<attempt_result_ptr>();
        auto worker = system().spawn<shell_attempt>(terms_);
        running_[call] = worker;
        request(worker, caf::infinite, run_v, what)
            .then(
                [this, call, answer](const attempt_result_ptr& over) mutable {
                  running_.erase(call);
                  answer.deliver(over);
                },
                [this, call, answer](caf::error& failed) mutable {
                  running_.erase(call);
                  answer.deliver(std::move(failed));
                });
        return answer;
      },
      [this](cancel_atom, const std::string& call) {
        if (const auto found = running_.find(call); found != running_.end())
          send(found->second, cancel_v, call);
      },
  };
}

} // namespace gatehouse::actors
