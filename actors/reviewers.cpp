#include "actors/reviewers.hpp"

#include <utility>

namespace gatehouse::actors {

no_reviewer::behavior_type no_reviewer::make_behavior() {
  return {
      [](review_atom, const review_request_ptr& question) -> review_answer_ptr {
        return std::make_shared<const review_answer>(review_answer{
            question->review_id, question->digest, review_decision::denied, reviewer_kind::none,
            "no one can be asked here: run at a terminal or change the approval "
            "policy"});
      },
      [](withdraw_atom, const std::string&) {},
  };
}

asking_reviewer::asking_reviewer(caf::actor_config& config, question_asker ask)
    : reviewer_actor::base{config}, ask_{std::move(ask)} {}

asking_reviewer::behavior_type asking_reviewer::make_behavior() {
  return {
      [this](review_atom, const review_request_ptr& question) -> review_answer_ptr {
        return std::make_shared<const review_answer>(ask_(*question));
      },
      [](withdraw_atom, const std::string&) {},
  };
}

} // namespace gatehouse::actors
