#pragma once

#include "actors/call_host.hpp"
#include "actors/interfaces.hpp"
#include "reactor/worker_pool.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <string>

namespace gatehouse::actors {

/// Asks a person through a function that blocks, on a worker thread (§204).
class asking_reviewer : public reviewer_actor::base {
public:
  /// `workers` outlives the actor.
  asking_reviewer(caf::actor_config& config, question_asker ask, reactor::worker_pool* workers);
  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.asking-reviewer"; }

private:
  void withdraw(const std::string& review_id);

  question_asker ask_;
  /// By review id: set when the question is moot.
  std::map<std::string, std::shared_ptr<std::atomic<bool>>> open_;
  reactor::worker_pool* workers_;
};

/// Keeps approved rules (§42), on a worker thread: another process may hold the lock.
class rule_keeper : public amendment_actor::base {
public:
  rule_keeper(caf::actor_config& config,
              std::function<void(const std::vector<std::string>&)> add_rule,
              reactor::worker_pool* workers);
  behavior_type make_behavior() override;
  void on_exit() override { add_rule_ = nullptr; }
  const char* name() const override { return "gatehouse.rule-keeper"; }

private:
  std::function<void(const std::vector<std::string>&)> add_rule_;
  reactor::worker_pool* workers_;
};

} // namespace gatehouse::actors
