#include "actors/review_route.hpp"

#include <utility>

namespace gatehouse::actors {

review_route::review_route(review_request question, review_terms terms)
    : question_{std::move(question)}, terms_{std::move(terms)} {
  if (question_.user_may_be_asked) return;
  terms_.user = false;
  terms_.no_user_reason = "the approval policy lets no user be asked";
}

route::effects review_route::begin() {
  if (terms_.hooks && !question_.strict)
    out_.push_back(route::ask_hooks{});
  else
    after_hooks();
  return std::exchange(out_, {});
}

route::effects review_route::step(route::event event) {
  std::visit([this](auto& e) { on(e); }, event);
  return std::exchange(out_, {});
}

void review_route::on(route::hooks_answered& event) {
  if (stage_ != stage::hooks) return;
  if (event.verdict == hook_verdict::deny)
    return answer(review_decision::denied, reviewer_kind::hook, std::move(event.reason));
  if (event.verdict == hook_verdict::allow && question_.attempt == 1)
    return answer(review_decision::approved, reviewer_kind::hook, std::move(event.reason));
  after_hooks();
}

void review_route::after_hooks() {
  if (terms_.overridden)
    return answer(review_decision::approved, reviewer_kind::user,
                  "approved by the user after the automatic reviewer had refused it");
  if (terms_.settled && question_.attempt == 1 && !question_.strict)
    return answer(review_decision::approved, reviewer_kind::user, "approved for the session");
  if (terms_.guardian) {
    stage_ = stage::guardian;
    out_.push_back(route::ask_guardian{});
    return;
  }
  go_to_user(review_decision::denied, question_.strict
                                          ? "strict review needs the automatic reviewer, "
                                            "which is not configured"
                                          : std::string{});
}

void review_route::on(route::guardian_answered& event) {
  if (stage_ != stage::guardian) return;
  using kind = guardian_result::kind;
  if (!event.tripped.empty())
    return answer(review_decision::abort, reviewer_kind::guardian, std::move(event.tripped));
  switch (event.result.what) {
  case kind::allowed:
    return answer(review_decision::approved, reviewer_kind::guardian,
                  std::move(event.result.reason));
  case kind::refused:
    return answer(review_decision::denied, reviewer_kind::guardian, std::move(event.result.reason));
  case kind::timed_out:
    return go_to_user(review_decision::timed_out,
                      "the automatic reviewer gave no answer in time, which says nothing about the "
                      "action (" +
                          event.result.reason + ")");
  case kind::unavailable:
    return go_to_user(review_decision::denied,
                      "the automatic reviewer is unavailable, which says nothing about the action "
                      "(" +
                          event.result.reason + ")");
  }
}

void review_route::go_to_user(review_decision without_user, const std::string& why) {
  if (terms_.user) {
    if (!why.empty()) out_.push_back(route::warn_user{why});
    stage_ = stage::user;
    out_.push_back(route::ask_user{});
    return;
  }
  const auto& nobody =
      terms_.no_user_reason.empty() ? "no user can be asked" : terms_.no_user_reason;
  answer(without_user, reviewer_kind::none, why.empty() ? nobody : why + ", and " + nobody);
}

void review_route::on(route::user_answered& event) {
  auto& given = event.answer;
  if (stage_ != stage::user || given.review_id != question_.review_id) return;
  const bool no = given.decision == review_decision::denied ||
                  given.decision == review_decision::timed_out ||
                  given.decision == review_decision::abort;
  if (!no && given.digest != question_.digest)
    return answer(review_decision::denied, reviewer_kind::user,
                  "the answer was given for another action than the one that would run");
  if (given.decision == review_decision::network_policy_amendment) {
    if (question_.network) {
      answer(given.decision, reviewer_kind::user, std::move(given.reason), given.denies_host);
      return;
    }
    given.decision = given.denies_host ? review_decision::denied : review_decision::approved;
  }
  // An answer that was not on offer counts for what it surely means: this once.
  if ((given.decision == review_decision::approved_for_session && !question_.session_offered) ||
      (given.decision == review_decision::approved_execpolicy_amendment &&
       question_.proposed_amendment.empty()))
    given.decision = review_decision::approved;
  const bool nobody =
      no && given.reviewer == reviewer_kind::none; // it could not be asked after all
  answer(given.decision, nobody ? reviewer_kind::none : reviewer_kind::user,
         std::move(given.reason), false, std::move(given.permissions));
}

void review_route::on(route::user_gone&) {
  if (stage_ == stage::user)
    answer(review_decision::denied, reviewer_kind::none, "the user left before they answered");
  else
    terms_.user = false;
}

void review_route::on(route::expired&) {
  if (stage_ == stage::done) return;
  out_.push_back(route::withdraw{});
  answer(review_decision::timed_out, reviewer_kind::none, "the question stood too long");
}

void review_route::on(route::withdrawn&) {
  if (stage_ == stage::done) return;
  out_.push_back(route::withdraw{});
  answer(review_decision::abort, reviewer_kind::none, "nobody waits for the answer any more");
}

void review_route::answer(review_decision decision, reviewer_kind reviewer, std::string reason,
                          bool denies_host, std::optional<given_permissions> permissions) {
  stage_ = stage::done;
  out_.push_back(route::reply{{question_.review_id, question_.digest, decision, reviewer,
                               std::move(reason), denies_host, std::move(permissions)}});
}

} // namespace gatehouse::actors
