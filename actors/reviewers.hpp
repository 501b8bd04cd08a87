#pragma once

#include "actors/interfaces.hpp"
#include "actors/question_asker.hpp"

#include <caf/typed_event_based_actor.hpp>

namespace gatehouse::actors {

/// Refuses every question, since there is nobody to ask.
class no_reviewer : public reviewer_actor::base {
public:
  using reviewer_actor::base::base;
  behavior_type make_behavior() override;
  const char* name() const override { return "gatehouse.no-reviewer"; }
};

/// Asks through a function that blocks the loop until there is an answer: for a program that has
/// nothing else to do meanwhile.
class asking_reviewer : public reviewer_actor::base {
public:
  asking_reviewer(caf::actor_config& config, question_asker ask);
  behavior_type make_behavior() override;
  const char* name() const override { return "gatehouse.asking-reviewer"; }

private:
  question_asker ask_;
};

} // namespace gatehouse::actors
