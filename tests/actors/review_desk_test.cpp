#include "actors/review_desk.hpp"

#include "protocol/approval_key.hpp"
#include "protocol/digest.hpp"
#include "reactor/actor_scheduler.hpp"
#include "tests/support/run_program.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <doctest/doctest.h>

#include <functional>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

using namespace std::chrono_literals;
using verdict = review_decision;

constexpr std::chrono::seconds hang_guard{60};

/// What the person at the other end saw, and what they will say.
struct person {
  std::vector<review_request> asked;
  std::vector<std::string> withdrawn;
  /// Unset: silence.
  std::optional<review_decision> says = verdict::approved;
  bool breaks = false;
};

class person_actor : public reviewer_actor::base {
public:
  person_actor(caf::actor_config& config, person* who) : reviewer_actor::base{config}, who_{who} {}
  void on_exit() override { held_.clear(); }
  behavior_type make_behavior() override {
    return {[this](review_atom, const review_request_ptr& q) -> caf::result<review_answer_ptr> {
              who_->asked.push_back(*q);
              if (who_->breaks) return caf::make_error(caf::sec::runtime_error);
              auto promise = make_response_promise<review_answer_ptr>();
              auto answer = promise;
              if (who_->says)
                promise.deliver(std::make_shared<const review_answer>(review_answer{
                    q->review_id, q->digest, *who_->says, reviewer_kind::user, "the person"}));
              else
                held_.push_back(promise);
              return answer;
            },
            [this](withdraw_atom, const std::string& id) { who_->withdrawn.push_back(id); }};
  }

private:
  person* who_;
  std::vector<caf::typed_response_promise<review_answer_ptr>> held_;
};

class asker : public caf::event_based_actor {
public:
  asker(caf::actor_config& config, reviewer_actor desk, review_request_ptr question,
        std::optional<review_answer>* slot)
      : caf::event_based_actor{config}, desk_{std::move(desk)}, question_{std::move(question)},
        slot_{slot} {}
  caf::behavior make_behavior() override {
    request(desk_, caf::infinite, review_v, question_)
        .then([this](const review_answer_ptr& answer) {
          *slot_ = *answer;
          quit();
        });
    return {[](cancel_atom) {}};
  }
  void on_exit() override { desk_ = nullptr; }

private:
  reviewer_actor desk_;
  review_request_ptr question_;
  std::optional<review_answer>* slot_;
};

hook_rules hooks(std::vector<std::string> commands) {
  std::vector<hook_handler> handlers;
  for (auto& command : commands) {
    hook_handler h;
    h.event = hook_event::permission_request;
    h.command = std::move(command);
    h.where = "hook " + std::to_string(handlers.size());
    handlers.push_back(std::move(h));
  }
  return *hook_rules::compile(std::move(handlers));
}

/// A session: its desk, its person, its memory.
struct session {
  std::shared_ptr<reactor::manual_clock> time = std::make_shared<reactor::manual_clock>();
  reactor::event_loop loop{time};
  caf::actor_system_config config;
  std::optional<caf::actor_system> system;
  person someone;
  review_desk_terms terms;
  std::vector<std::string> warnings;
  std::vector<std::string> guardian_questions;
  std::function<std::optional<guardian_reply>()> guardian;
  std::vector<std::function<void(guardian_reply)>> guardian_waits;
  reviewer_actor user;
  reviewer_actor desk;
  int next_id = 1;

  session() {
    reactor::run_actors_on(loop, config);
    system.emplace(config);
    user = system->spawn<person_actor>(&someone);
    terms.loop = &loop;
    terms.user = user;
    terms.memory = std::make_shared<review_memory>();
    terms.hook_place = {tests::built("gatehouse-sandbox"), "/", {"PATH=/usr/bin:/bin"}};
    terms.policy = [] { return std::string{"policy"}; };
    terms.warn = [this](const std::string& text) { warnings.push_back(text); };
  }
  ~session() {
    guardian_waits.clear();
    caf::anon_send_exit(desk, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(user, caf::exit_reason::user_shutdown);
    terms = {};
    desk = nullptr;
    user = nullptr;
    CHECK(reactor::run_until_actors_done(loop, *system, hang_guard));
  }

  void with_guardian(std::string answer) {
    with_guardian([answer] { return guardian_reply{guardian_reply::kind::text, answer}; });
  }
  void with_guardian(std::function<std::optional<guardian_reply>()> says) {
    guardian = std::move(says);
    terms.auto_review = true;
    terms.guardian = [this](const guardian_question& question,
                            std::function<void(guardian_reply)> done) {
      guardian_questions.push_back(question.prompt);
      if (auto reply = guardian())
        loop.post([reply = *std::move(reply), done = std::move(done)] { done(reply); });
      else
        guardian_waits.push_back(std::move(done));
      return std::make_shared<int>(0);
    };
  }
  void open() { desk = system->spawn<review_desk>(terms); }

  static review_request about(std::string word, int attempt = 1) {
    review_request q;
    q.what.argv = {"make", std::move(word)};
    q.what.cwd = "/";
    q.attempt = attempt;
    q.digest = digest_of(q.what, {attempt, false, {}});
    return q;
  }
  /// Sends a question on its way; the answer appears in `slot`.
  std::string start(review_request q, std::optional<review_answer>& slot) {
    if (!desk) open();
    q.review_id = "review-" + std::to_string(next_id++);
    const auto id = q.review_id;
    system->spawn<asker>(desk, std::make_shared<const review_request>(std::move(q)), &slot);
    return id;
  }
  review_answer ask(review_request q) {
    std::optional<review_answer> slot;
    start(std::move(q), slot);
    REQUIRE(loop.run_until([&] { return slot.has_value(); }, hang_guard));
    return *slot;
  }
};

const std::string allow_hook = R"(echo '{"hookSpecificOutput":{"hookEventName":)"
                               R"("PermissionRequest","decision":{"behavior":"allow"}}}')";
const std::string guardian_allows = R"({"outcome":"allow","risk_level":"low"})";
const std::string guardian_denies = R"({"outcome":"deny","rationale":"too bold"})";

} // namespace

TEST_SUITE("actors.review_desk") {
  TEST_CASE("§48 a real hook, then the automatic reviewer, then the user") {
    session s;
    s.terms.hooks =
        hooks({"test \"$(cat | grep -c 'make yes')\" = 1 && " + allow_hook + " || true"});
    s.with_guardian([] { return guardian_reply{guardian_reply::kind::failed, "HTTP 500"}; });
    const auto by_hook = s.ask(session::about("yes"));
    CHECK(by_hook.decision == verdict::approved);
    CHECK(by_hook.reviewer == reviewer_kind::hook);
    CHECK(s.someone.asked.empty());
    CHECK(s.guardian_questions.empty());

    const auto by_user = s.ask(session::about("other"));
    CHECK(by_user.decision == verdict::approved);
    CHECK(by_user.reviewer == reviewer_kind::user);
    CHECK(s.guardian_questions.size() == 1);
    REQUIRE(s.warnings.size() == 1);
    CHECK(s.warnings[0].find("HTTP 500") != std::string::npos);
  }

  TEST_CASE("§D8 a hook that fails passes the question on with a warning") {
    session s;
    s.terms.hooks = hooks({"exit 1", allow_hook});
    s.someone.says = verdict::denied;
    CHECK(s.ask(session::about("x")).reviewer == reviewer_kind::user);
    CHECK(s.warnings.size() == 1);
  }

  TEST_CASE("§48a without a user the failure of the automatic reviewer is a refusal that says so") {
    session s;
    s.terms.user = nullptr;
    s.terms.no_user_reason = "nobody is connected";
    s.with_guardian("I allow this");
    const auto a = s.ask(session::about("x"));
    CHECK(a.decision == verdict::denied);
    CHECK(a.reviewer == reviewer_kind::none);
    CHECK(a.reason.find("unavailable") != std::string::npos);
    CHECK(a.reason.find("nobody is connected") != std::string::npos);
  }

  TEST_CASE("§48a the third refusal in a row stops the turn; a new turn begins anew") {
    session s;
    s.with_guardian(guardian_denies);
    CHECK(s.ask(session::about("1")).decision == verdict::denied);
    CHECK(s.ask(session::about("2")).decision == verdict::denied);
    const auto third = s.ask(session::about("3"));
    CHECK(third.decision == verdict::abort);
    CHECK(third.reason.find("in a row") != std::string::npos);
    s.guardian = [] { return guardian_reply{guardian_reply::kind::text, guardian_allows}; };
    CHECK(s.ask(session::about("4")).decision == verdict::abort);
    CHECK(s.guardian_questions.size() == 3);
    s.terms.memory->breaker.reset();
    CHECK(s.ask(session::about("4")).decision == verdict::approved);
  }

  TEST_CASE("§48a failures of the automatic reviewer never trip the breaker") {
    session s;
    s.with_guardian("nonsense");
    s.someone.says = verdict::denied;
    for (int i = 0; i < 5; ++i)
      CHECK(s.ask(session::about("x")).reviewer == reviewer_kind::user);
    CHECK_FALSE(s.terms.memory->breaker.open());
  }

  TEST_CASE("§48 a person's yes after the automatic no is final for that very action, once") {
    session s;
    s.with_guardian(guardian_denies);
    const auto q = session::about("x");
    CHECK(s.ask(q).decision == verdict::denied);
    s.terms.memory->overrides.allow(q.digest);
    CHECK(s.ask(session::about("y")).decision == verdict::denied);
    const auto a = s.ask(q);
    CHECK(a.decision == verdict::approved);
    CHECK(a.reviewer == reviewer_kind::user);
    s.terms.memory->breaker.reset();
    CHECK(s.ask(q).decision == verdict::denied);
  }

  TEST_CASE("§52 an approval for the session is offered, remembered, and can be revoked") {
    session s;
    s.terms.session_scope = true;
    s.someone.says = verdict::approved_for_session;
    CHECK(s.ask(session::about("x")).decision == verdict::approved_for_session);
    REQUIRE(s.someone.asked.size() == 1);
    CHECK(s.someone.asked[0].session_offered);
    const auto again = s.ask(session::about("x"));
    CHECK(again.decision == verdict::approved);
    CHECK(s.someone.asked.size() == 1);
    (void)s.ask(session::about("y"));
    CHECK(s.someone.asked.size() == 2);
    const auto stored = s.terms.memory->approvals.list();
    REQUIRE(stored.size() == 2);
    CHECK(stored[0].shown == "make x");
    CHECK(s.terms.memory->approvals.revoke(stored[0].id));
    (void)s.ask(session::about("x"));
    CHECK(s.someone.asked.size() == 3);
  }

  TEST_CASE("§56 a patch is approved for the session file by file, and skips when all are known") {
    session s;
    s.terms.session_scope = true;
    s.someone.says = verdict::approved_for_session;
    const auto patch = [](std::vector<file_change> changes) {
      auto q = session::about("x");
      q.what.patch = patch_call{"text", "/", std::move(changes)};
      q.digest = digest_of(q.what, {1, false, {}});
      return q;
    };
    const file_change a{change_kind::update, "/a", "", "a"};
    const file_change b{change_kind::add, "/b", "", "b"};
    const file_change c{change_kind::add, "/c", "", "c"};
    const file_change a_to_c{change_kind::move, "/c", "/a", "c"};
    (void)s.ask(patch({a, b}));
    CHECK(s.someone.asked.size() == 1);
    CHECK(s.ask(patch({a})).decision == verdict::approved);
    CHECK(s.ask(patch({b, a, a})).decision == verdict::approved);
    CHECK(s.someone.asked.size() == 1);
    (void)s.ask(patch({a_to_c})); // its destination is new
    CHECK(s.someone.asked.size() == 2);
    CHECK(s.ask(patch({c})).decision == verdict::approved);
    const auto stored = s.terms.memory->approvals.list();
    REQUIRE(stored.size() == 3);
    CHECK(stored[0].shown == "patch /a");
    CHECK(s.terms.memory->approvals.revoke(stored[0].id));
    (void)s.ask(patch({a}));
    CHECK(s.someone.asked.size() == 3);
    auto other = patch({b});
    other.what.environment_id = "remote";
    (void)s.ask(other);
    CHECK(s.someone.asked.size() == 4);
  }

  TEST_CASE("§52 §103 a retry and strict review never use it, and are not offered it") {
    session s;
    s.terms.session_scope = true;
    s.someone.says = verdict::approved_for_session;
    (void)s.ask(session::about("x"));
    CHECK(s.ask(session::about("x", 2)).decision == verdict::approved);
    REQUIRE(s.someone.asked.size() == 2);
    CHECK_FALSE(s.someone.asked[1].session_offered);
    auto strict = session::about("x");
    strict.strict = true;
    CHECK(s.ask(strict).decision == verdict::approved);
    CHECK(s.someone.asked.size() == 3);
    CHECK(s.terms.memory->approvals.list().size() == 1);
  }

  TEST_CASE("§52 where sessions end with the call, it is not offered and means once") {
    session s;
    s.someone.says = verdict::approved_for_session;
    CHECK(s.ask(session::about("x")).decision == verdict::approved);
    CHECK_FALSE(s.someone.asked[0].session_offered);
    CHECK(s.terms.memory->approvals.list().empty());
  }

  TEST_CASE("§50 a withdrawn question is withdrawn from the person as well") {
    session s;
    s.someone.says.reset();
    std::optional<review_answer> slot;
    const auto id = s.start(session::about("x"), slot);
    REQUIRE(s.loop.run_until([&] { return s.someone.asked.size() == 1; }, hang_guard));
    caf::anon_send(s.desk, withdraw_v, id);
    REQUIRE(s.loop.run_until([&] { return slot.has_value(); }, hang_guard));
    CHECK(slot->decision == verdict::abort);
    s.loop.run_until([&] { return !s.someone.withdrawn.empty(); }, hang_guard);
    CHECK(s.someone.withdrawn == std::vector<std::string>{id});
  }

  TEST_CASE("§50 a person who takes too long is a refusal, at the limit and not before") {
    session s;
    s.someone.says.reset();
    s.terms.user_limit = 60s;
    std::optional<review_answer> slot;
    s.start(session::about("x"), slot);
    REQUIRE(s.loop.run_until([&] { return s.someone.asked.size() == 1; }, hang_guard));
    s.time->advance(59s);
    s.loop.poll();
    CHECK_FALSE(slot);
    s.time->advance(1s);
    REQUIRE(s.loop.run_until([&] { return slot.has_value(); }, hang_guard));
    CHECK(slot->decision == verdict::timed_out);
  }

  TEST_CASE("§48 a reviewer actor that breaks is no yes") {
    session s;
    s.someone.breaks = true;
    const auto a = s.ask(session::about("x"));
    CHECK(a.decision == verdict::denied);
    CHECK(a.reviewer == reviewer_kind::none);
  }

  TEST_CASE("§50 questions are open side by side, each with its own answer") {
    session s;
    s.with_guardian([]() -> std::optional<guardian_reply> { return std::nullopt; });
    std::optional<review_answer> first;
    std::optional<review_answer> second;
    s.start(session::about("1"), first);
    s.start(session::about("2"), second);
    REQUIRE(s.loop.run_until([&] { return s.guardian_waits.size() == 2; }, hang_guard));
    s.guardian_waits[1]({guardian_reply::kind::text, guardian_denies});
    REQUIRE(s.loop.run_until([&] { return second.has_value(); }, hang_guard));
    CHECK_FALSE(first);
    CHECK(second->decision == verdict::denied);
    s.guardian_waits[0]({guardian_reply::kind::text, guardian_allows});
    REQUIRE(s.loop.run_until([&] { return first.has_value(); }, hang_guard));
    CHECK(first->decision == verdict::approved);
  }

  TEST_CASE("§48 a desk that ends answers its open questions with no") {
    session s;
    s.someone.says.reset();
    std::optional<review_answer> slot;
    s.start(session::about("x"), slot);
    REQUIRE(s.loop.run_until([&] { return s.someone.asked.size() == 1; }, hang_guard));
    caf::anon_send_exit(s.desk, caf::exit_reason::user_shutdown);
    REQUIRE(s.loop.run_until([&] { return slot.has_value(); }, hang_guard));
    CHECK_FALSE(is_approval(slot->decision));
  }
}
