#include "tests/actors/process_fixture.hpp"

#include <csignal>
#include <functional>

/// What is written to a session that has more authority than its thread gives (§123).
using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;
using namespace std::chrono_literals;

namespace {

/// Answers when the test says so; knows what was withdrawn.
class late_reviewer : public reviewer_actor::base {
public:
  struct open_question {
    review_request asked;
    caf::typed_response_promise<review_answer_ptr> caller;
    bool withdrawn = false;
    void approve() {
      caller.deliver(std::make_shared<const review_answer>(review_answer{
          asked.review_id, asked.digest, review_decision::approved, reviewer_kind::user, {}}));
    }
  };
  late_reviewer(caf::actor_config& config, std::vector<open_question>& all)
      : reviewer_actor::base{config}, all_{all} {}
  behavior_type make_behavior() override {
    return {[this](review_atom, const review_request_ptr& q) -> caf::result<review_answer_ptr> {
              all_.push_back({*q, make_response_promise<review_answer_ptr>()});
              return all_.back().caller;
            },
            [this](withdraw_atom, const std::string& id) {
              for (auto& one : all_)
                one.withdrawn = one.withdrawn || one.asked.review_id == id;
            }};
  }
  void on_exit() override { all_.clear(); }

private:
  std::vector<open_question>& all_;
};

class one_reviewer : public reviewer_actor::base {
public:
  one_reviewer(caf::actor_config& config, std::function<review_answer(const review_request&)> say)
      : reviewer_actor::base{config}, say_{std::move(say)} {}
  behavior_type make_behavior() override {
    return {[this](review_atom, const review_request_ptr& question) {
              return std::make_shared<const review_answer>(say_(*question));
            },
            [](withdraw_atom, const std::string&) {}};
  }

private:
  std::function<review_answer(const review_request&)> say_;
};

} // namespace

TEST_SUITE("actors.process_writes") {
  TEST_CASE("§123 what is written to a process outside of the sandbox is asked about, each time") {
    process_stage stage;
    std::vector<review_request> asked;
    bool yes = true;
    stage.terms.reviewer = stage.system->spawn<one_reviewer>([&](const review_request& q) {
      asked.push_back(q);
      return review_answer{q.review_id, q.digest,
                           yes ? review_decision::approved : review_decision::denied,
                           reviewer_kind::user, "not that"};
    });
    auto r = *stage.request("cat", 1ms, true);
    r.start.plan.what.sandbox_permissions = sandbox_permissions::require_escalated;
    r.start.plan.what.justification = "needed";
    const auto started =
        stage.wait(stage.ask<exec_reply_ptr>(run_v, std::make_shared<const exec_request>(r)));
    REQUIRE(started->result.session_id);
    REQUIRE(asked.size() == 1);
    CHECK(!stage.list().front().sandboxed);
    CHECK(!stage.write(1000, "", 1ms).failure);
    CHECK(asked.size() == 1); // a poll is no question
    CHECK(!stage.write(1000, "hello\n", 1ms).failure);
    REQUIRE(asked.size() == 2);
    CHECK(asked[1].reason.find("hello") != std::string::npos);
    CHECK(asked[1].digest != asked[0].digest);
    CHECK(!stage.write(1000, "\\x03\n", 1ms).failure);
    CHECK(asked.back().reason.ends_with("\\\\x03\n")); // not as the byte 3 is shown
    yes = false;
    const auto refused = stage.write(1000, "\x03", 1ms);
    REQUIRE(refused.failure);
    CHECK(refused.failure->message.find("not that") != std::string::npos);
    CHECK(stage.list().front().running);
  }

  TEST_CASE(
      "§123 §127 an approved write reached a session that was being ended; its question stood "
      "when the session had gone") {
    for (const bool ended_by_itself : {false, true}) {
      CAPTURE(ended_by_itself);
      std::vector<late_reviewer::open_question> asked;
      process_stage stage;
      stage.terms.reviewer = stage.system->spawn<late_reviewer>(std::ref(asked));
      stage.terms.process.host.end_grace = 600s; // it is being ended for as long as we look
      auto r = *stage.request("trap '' INT TERM; echo up; read line; echo \"ran $line\"; "
                              "exec sleep 600",
                              100ms, true);
      r.start.plan.what.sandbox_permissions = sandbox_permissions::require_escalated;
      r.start.plan.what.justification = "needed";
      const auto start = stage.ask<exec_reply_ptr>(run_v, std::make_shared<const exec_request>(r));
      REQUIRE(stage.loop.run_until([&] { return asked.size() == 1; }, 10s));
      asked[0].approve();
      REQUIRE(stage.wait(start)->result.session_id);
      REQUIRE(stage.heard(1000, "up"));
      const auto write = [&] {
        stdin_request w;
        w.call_id = "late";
        w.session_id = 1000;
        w.chars = "it\n";
        w.yield = 1ms;
        return stage.ask<exec_reply_ptr>(run_v, std::make_shared<const stdin_request>(w));
      };
      const auto late = write();
      REQUIRE(stage.loop.run_until([&] { return asked.size() == 2; }, 10s));
      std::shared_ptr<std::optional<bool>> ending;
      if (ended_by_itself)
        CHECK(stage.wait(stage.ask<bool>(signal_v, 1000, SIGKILL)));
      else
        ending = stage.ask<bool>(end_v, 1000);
      const auto reply = stage.wait(late);
      REQUIRE(reply->failure);
      CHECK(reply->failure->message.starts_with("StdinClosed"));
      CHECK(asked[1].withdrawn);
      asked[1].approve();
      if (ended_by_itself) continue;
      // What a person types does not reach it either.
      const auto typed = stage.wait(stage.ask<poll_piece_ptr>(type_v, 1000, std::string{"that\n"}));
      REQUIRE(typed->failure);
      CHECK(typed->failure->message.find("being ended") != std::string::npos);
      const auto told =
          stage.wait(stage.ask<process_transcript_ptr>(read_v, 1000, whole_transcript));
      CHECK(told->text.find("ran") == std::string::npos);
      CHECK(stage.wait(stage.ask<bool>(signal_v, 1000, SIGKILL)));
      CHECK(stage.wait(ending));
    }
  }
}
