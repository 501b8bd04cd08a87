#include "actors/review_route.hpp"

#include <doctest/doctest.h>

#include <iterator>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

using enum review_decision;
using guardian = guardian_result::kind;

review_request question(int attempt = 1) {
  review_request q;
  q.review_id = "review-1";
  q.digest = "digest";
  q.attempt = attempt;
  return q;
}

review_terms everybody() {
  review_terms t;
  t.hooks = t.guardian = t.user = true;
  return t;
}

/// A route and what it has asked for.
struct walk {
  review_route way;
  route::effects seen;

  walk(review_request q, review_terms t) : way{std::move(q), std::move(t)} { note(way.begin()); }

  void note(route::effects effects) {
    for (auto& e : effects)
      seen.push_back(std::move(e));
  }
  walk& tell(route::event event) {
    seen.clear();
    note(way.step(std::move(event)));
    return *this;
  }
  walk& hook(hook_verdict verdict) { return tell(route::hooks_answered{verdict, "hook says"}); }
  walk& guard(guardian what) { return tell(route::guardian_answered{{what, "guard says"}, {}}); }
  walk& user(review_decision decision, std::string digest = "digest", std::string id = "review-1") {
    return tell(route::user_answered{
        {std::move(id), std::move(digest), decision, reviewer_kind::user, "user says"}});
  }

  template <class T>
  [[nodiscard]] bool did() const {
    for (const auto& e : seen)
      if (std::holds_alternative<T>(e)) return true;
    return false;
  }
  [[nodiscard]] const review_answer* answer() const {
    for (const auto& e : seen)
      if (const auto* r = std::get_if<route::reply>(&e)) return &r->answer;
    return nullptr;
  }
};

bool answered(const walk& w, review_decision decision, reviewer_kind by) {
  const auto* a = w.answer();
  return w.way.finished() && a && a->decision == decision && a->reviewer == by &&
         a->review_id == "review-1" && a->digest == "digest";
}

} // namespace

TEST_SUITE("actors.review_route") {
  TEST_CASE("§48 hooks, then the automatic reviewer, then the user") {
    walk w{question(), everybody()};
    CHECK(w.did<route::ask_hooks>());
    CHECK(w.hook(hook_verdict::none).did<route::ask_guardian>());
    CHECK(w.guard(guardian::unavailable).did<route::ask_user>());
    CHECK(answered(w.user(approved), approved, reviewer_kind::user));
  }

  TEST_CASE("§48 a hook's allow or denial ends it") {
    walk yes{question(), everybody()};
    CHECK(answered(yes.hook(hook_verdict::allow), approved, reviewer_kind::hook));
    walk no{question(), everybody()};
    CHECK(answered(no.hook(hook_verdict::deny), denied, reviewer_kind::hook));
    CHECK(no.answer()->reason == "hook says");
  }

  TEST_CASE("§D8 at a retry a hook may only deny") {
    walk yes{question(2), everybody()};
    CHECK(yes.hook(hook_verdict::allow).did<route::ask_guardian>());
    walk no{question(2), everybody()};
    CHECK(answered(no.hook(hook_verdict::deny), denied, reviewer_kind::hook));
  }

  TEST_CASE("§48a the automatic reviewer's verdict counts, its failure never does") {
    auto terms = everybody();
    terms.hooks = false;
    walk yes{question(), terms};
    CHECK(answered(yes.guard(guardian::allowed), approved, reviewer_kind::guardian));
    walk no{question(), terms};
    CHECK(answered(no.guard(guardian::refused), denied, reviewer_kind::guardian));
    for (const auto failure : {guardian::timed_out, guardian::unavailable}) {
      walk w{question(), terms};
      w.guard(failure);
      CHECK(w.did<route::ask_user>());
      CHECK(w.did<route::warn_user>());
      CHECK_FALSE(w.answer());
    }
    terms.user = false;
    terms.no_user_reason = "nobody is here";
    walk late{question(), terms};
    CHECK(answered(late.guard(guardian::timed_out), timed_out, reviewer_kind::none));
    walk failed{question(), terms};
    CHECK(answered(failed.guard(guardian::unavailable), denied, reviewer_kind::none));
    CHECK(failed.answer()->reason ==
          "the automatic reviewer is unavailable, which says nothing about the action (guard "
          "says), and nobody is here");
  }

  TEST_CASE("§48a a tripped breaker stops the turn and says why, even past an allow") {
    auto terms = everybody();
    terms.hooks = false;
    for (const auto what : {guardian::refused, guardian::allowed, guardian::unavailable}) {
      walk w{question(), terms};
      w.tell(route::guardian_answered{{what, {}}, "too many refusals"});
      CHECK(answered(w, review_decision::abort, reviewer_kind::guardian));
      CHECK(w.answer()->reason == "too many refusals");
    }
  }

  TEST_CASE("§49 strict review asks no hook, counts no earlier yes, and needs the reviewer") {
    auto q = question();
    q.strict = true;
    auto terms = everybody();
    terms.settled = true;
    walk w{q, terms};
    CHECK(w.did<route::ask_guardian>());
    CHECK_FALSE(w.did<route::ask_hooks>());
    CHECK(answered(w.guard(guardian::allowed), approved, reviewer_kind::guardian));
    terms.guardian = false;
    walk to_user{q, terms};
    CHECK(to_user.did<route::ask_user>());
    terms.user = false;
    walk nobody{q, terms};
    CHECK(answered(nobody, denied, reviewer_kind::none));
  }

  TEST_CASE("§48 with nobody to ask the answer is no") {
    walk w{question(), {}};
    CHECK(answered(w, denied, reviewer_kind::none));
    CHECK(w.answer()->reason == "no user can be asked");
    auto terms = review_terms{};
    terms.hooks = true;
    walk hooks{question(), terms};
    CHECK(answered(hooks.hook(hook_verdict::none), denied, reviewer_kind::none));
  }

  TEST_CASE("§33 under never no person is asked, even when one is connected") {
    auto q = question();
    q.strict = true;
    q.user_may_be_asked = false;
    walk w{q, everybody()};
    CHECK(answered(w.guard(guardian::unavailable), denied, reviewer_kind::none));
    CHECK(w.answer()->reason.find("approval policy") != std::string::npos);
  }

  TEST_CASE("§52 an approval for the session is final after the hooks, for a first attempt only") {
    auto terms = everybody();
    terms.settled = true;
    walk w{question(), terms};
    CHECK(w.did<route::ask_hooks>());
    CHECK(answered(w.hook(hook_verdict::none), approved, reviewer_kind::user));
    walk no{question(), terms};
    CHECK(answered(no.hook(hook_verdict::deny), denied, reviewer_kind::hook));
    walk retry{question(2), terms};
    CHECK(retry.hook(hook_verdict::none).did<route::ask_guardian>());
  }

  TEST_CASE("§48 a person's yes after the automatic no is final for that very question") {
    auto q = question();
    q.strict = true;
    auto terms = everybody();
    terms.overridden = true;
    walk w{q, terms};
    CHECK(answered(w, approved, reviewer_kind::user));
  }

  TEST_CASE("§50 an answer for another question is ignored, one for another action is a refusal") {
    auto terms = review_terms{};
    terms.user = true;
    walk w{question(), terms};
    w.user(approved, "digest", "review-2");
    CHECK(w.seen.empty());
    CHECK(answered(w.user(approved, "other"), denied, reviewer_kind::user));
    for (const auto decision :
         {approved_for_session, approved_execpolicy_amendment, network_policy_amendment}) {
      walk other{question(), terms};
      CHECK(answered(other.user(decision, "other"), denied, reviewer_kind::user));
    }
    walk stop{question(), terms};
    CHECK(answered(stop.user(review_decision::abort, "other"), review_decision::abort,
                   reviewer_kind::user));
  }

  TEST_CASE("§50 the first valid answer is the only one") {
    auto terms = review_terms{};
    terms.user = true;
    walk w{question(), terms};
    CHECK(answered(w.user(denied), denied, reviewer_kind::user));
    for (const auto& late : {route::event{route::user_answered{
                                 {"review-1", "digest", approved, reviewer_kind::user, {}}}},
                             route::event{route::hooks_answered{hook_verdict::allow, {}}},
                             route::event{route::guardian_answered{{guardian::allowed, {}}, {}}},
                             route::event{route::expired{}}, route::event{route::user_gone{}}})
      CHECK(w.tell(late).seen.empty());
  }

  TEST_CASE("§50 only whoever is being asked can answer") {
    walk w{question(), everybody()};
    CHECK(w.user(approved).seen.empty());
    CHECK(w.guard(guardian::allowed).seen.empty());
    w.hook(hook_verdict::none);
    CHECK(w.user(approved).seen.empty());
    CHECK(w.hook(hook_verdict::allow).seen.empty());
  }

  TEST_CASE("§50 a question that stands too long is refused and withdrawn at every stage") {
    for (int stage = 0; stage < 3; ++stage) {
      walk w{question(), everybody()};
      if (stage > 0) w.hook(hook_verdict::none);
      if (stage > 1) w.guard(guardian::unavailable);
      w.tell(route::expired{});
      CHECK(w.did<route::withdraw>());
      CHECK(answered(w, timed_out, reviewer_kind::none));
    }
  }

  TEST_CASE("§48 a user who leaves is no yes") {
    auto terms = everybody();
    terms.hooks = false;
    walk asked{question(), terms};
    asked.guard(guardian::unavailable);
    CHECK(answered(asked.tell(route::user_gone{}), denied, reviewer_kind::none));
    walk before{question(), terms};
    before.tell(route::user_gone{});
    CHECK_FALSE(before.way.finished());
    CHECK(answered(before.guard(guardian::timed_out), timed_out, reviewer_kind::none));
  }

  TEST_CASE("§51 an answer that was not on offer is narrowed to this once") {
    auto terms = review_terms{};
    terms.user = true;
    for (const auto decision : {approved_for_session, approved_execpolicy_amendment}) {
      walk w{question(), terms};
      CHECK(answered(w.user(decision), approved, reviewer_kind::user));
    }
    auto q = question();
    q.session_offered = true;
    q.proposed_amendment = {"make"};
    for (const auto decision : {approved_for_session, approved_execpolicy_amendment}) {
      walk w{q, terms};
      CHECK(answered(w.user(decision), decision, reviewer_kind::user));
    }
  }

  TEST_CASE("§48 §50 whatever happens in whatever order: one answer, and a yes only from a yes") {
    const auto user_says = [](review_decision d, std::string digest, std::string id) {
      return route::event{
          route::user_answered{{std::move(id), std::move(digest), d, reviewer_kind::user, {}}}};
    };
    const route::event event_of[] = {
        route::hooks_answered{hook_verdict::none, {}},
        route::hooks_answered{hook_verdict::deny, {}},
        route::guardian_answered{{guardian::refused, {}}, {}},
        route::guardian_answered{{guardian::unavailable, {}}, {}},
        route::guardian_answered{{guardian::timed_out, {}}, {}},
        route::guardian_answered{{guardian::allowed, {}}, "tripped"},
        user_says(denied, "digest", "review-1"),
        user_says(approved, "other", "review-1"),
        user_says(approved_for_session, "digest", "review-2"),
        route::user_gone{},
        route::expired{},
        // From here on: a yes.
        route::hooks_answered{hook_verdict::allow, {}},
        route::guardian_answered{{guardian::allowed, {}}, {}},
        user_says(approved, "digest", "review-1"),
    };
    constexpr std::size_t first_yes = 11;
    const auto count = std::size(event_of);
    std::size_t wrong = 0;
    for (unsigned bits = 0; bits < 64; ++bits) {
      review_terms terms;
      terms.hooks = (bits & 1) != 0;
      terms.guardian = (bits & 2) != 0;
      terms.user = (bits & 4) != 0;
      terms.settled = (bits & 8) != 0;
      auto q = question((bits & 16) != 0 ? 2 : 1);
      q.strict = (bits & 32) != 0;
      const bool settled = terms.settled && q.attempt == 1 && !q.strict;
      for (std::size_t code = 0; code < count * count * count; ++code) {
        walk w{q, terms};
        std::size_t answers = w.answer() ? 1 : 0;
        std::size_t yes = answers && is_approval(w.answer()->decision) ? 1 : 0;
        bool may_be_yes = settled;
        for (auto rest = code, n = std::size_t{3}; n > 0; --n, rest /= count) {
          may_be_yes = may_be_yes || rest % count >= first_yes;
          w.tell(event_of[rest % count]);
          if (!w.answer()) continue;
          ++answers;
          if (is_approval(w.answer()->decision)) ++yes;
        }
        w.tell(route::expired{});
        if (w.answer()) ++answers;
        if (answers != 1 || !w.way.finished() || (yes > 0 && !may_be_yes)) ++wrong;
      }
    }
    CHECK(wrong == 0);
  }

  TEST_CASE("§48 nobody but the reviewer itself can answer in its name") {
    auto terms = review_terms{};
    terms.user = true;
    walk w{question(), terms};
    w.tell(route::user_answered{{"review-1", "digest", approved, reviewer_kind::guardian, {}}});
    CHECK(answered(w, approved, reviewer_kind::user));
    walk unreachable{question(), terms};
    unreachable.tell(route::user_answered{{"review-1", "digest", denied, reviewer_kind::none, {}}});
    CHECK(answered(unreachable, denied, reviewer_kind::none));
  }
}
