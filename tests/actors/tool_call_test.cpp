#include "actors/tool_call.hpp"

#include "tests/actors/actor_fixture.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;

namespace {

call_plan plan_of(std::vector<std::string> argv, approval_mode mode = approval_mode::on_request) {
  auto plan = plan_for(mode, workspace_write_profile());
  plan.what.argv = std::move(argv);
  return plan;
}

std::optional<attempt_result> denied(const attempt& what) {
  return ended(what->number, attempt_ending::denied).result;
}

} // namespace

TEST_SUITE("actors.tool_call") {
  TEST_CASE("§128 §131 a read-only command runs sandboxed without a question") {
    actor_fixture f;
    const auto report = f.run(plan_of({"ls"}));
    CHECK(report.ending == call_ending::completed);
    CHECK(f.stage_.questions.empty());
    REQUIRE(f.stage_.attempts.size() == 1);
    CHECK((*f.stage_.attempts[0])->sandbox_requested);
  }

  TEST_CASE("§128 a call that a rule forbids is an item with a start and an end") {
    actor_fixture f{R"(prefix_rule(pattern=["git", "push"], decision="forbidden",
                       justification="use the release job"))"};
    const auto report = f.run(plan_of({"git", "push"}));
    CHECK(report.ending == call_ending::refused);
    CHECK(report.message.find("use the release job") != std::string::npos);
    CHECK(f.stage_.attempts.empty());
  }

  TEST_CASE("§5 §128 what the handler refuses reaches no reviewer and no runtime") {
    actor_fixture f;
    exec_requirement refusal;
    refusal.kind = requirement_kind::forbidden;
    refusal.reason = "login shells are switched off";
    refusal.refused_by = refused_by::handler;
    const auto report = f.run(plan_of({"bash", "-lc", "ls"}), refusal);
    CHECK(exit_status(report) == 125);
    CHECK(report.evaluation.segments.size() == 1); // still judged, for people
    CHECK(f.stage_.questions.empty());
    CHECK(f.stage_.attempts.empty());
  }

  TEST_CASE("§128 the reviewer's no, stop, failure and silence each end the call unrun") {
    actor_fixture f;
    SUBCASE("no") {
      f.stage_.review = [](const review_request& q) {
        return answer_to(q, review_decision::denied).answer;
      };
      CHECK(f.run(plan_of({"rm", "-rf", "x"})).ending == call_ending::refused);
    }
    SUBCASE("stop") {
      f.stage_.review = [](const review_request& q) {
        return answer_to(q, review_decision::abort).answer;
      };
      CHECK(f.run(plan_of({"rm", "-rf", "x"})).ending == call_ending::aborted);
    }
    SUBCASE("the reviewer dies over it") {
      f.stage_.review = [](const review_request&) { return std::nullopt; };
      f.begin(plan_of({"rm", "-rf", "x"}));
      f.deliver();
      CHECK_FALSE(f.report());
      caf::anon_send_exit(f.partners_.reviewer, caf::exit_reason::user_shutdown);
      f.deliver();
      const auto report = f.report();
      REQUIRE(report);
      CHECK(report->ending == call_ending::refused);
      CHECK(report->reviews.at(0).reviewer == reviewer_kind::none);
    }
    SUBCASE("silence, then the caller takes it back") {
      f.stage_.review = [](const review_request&) { return std::nullopt; };
      f.begin(plan_of({"rm", "-rf", "x"}));
      f.deliver();
      f.cancel();
      f.deliver();
      CHECK(f.report()->ending == call_ending::aborted);
      CHECK(f.stage_.withdrawn == std::vector<std::string>{f.stage_.questions.at(0).review_id});
    }
    CHECK(f.stage_.attempts.empty());
  }

  TEST_CASE("§128 §138 an approved dangerous command runs, inside the sandbox") {
    actor_fixture f;
    const auto report = f.run(plan_of({"rm", "-rf", "x"}));
    CHECK(report.ending == call_ending::completed);
    REQUIRE(f.stage_.attempts.size() == 1);
    CHECK((*f.stage_.attempts[0])->sandbox_requested);
    CHECK((*f.stage_.attempts[0])->by);
    CHECK(f.stage_.questions.at(0).what.argv == std::vector<std::string>{"rm", "-rf", "x"});
  }

  TEST_CASE("§42 a rule that the reviewer adds is kept, and the command runs") {
    actor_fixture f{R"(prefix_rule(pattern=["deploy"], decision="prompt"))"};
    f.stage_.review = [](const review_request& q) {
      return answer_to(q, review_decision::approved_execpolicy_amendment).answer;
    };
    auto plan = plan_of({"rm", "-rf", "x"});
    f.run(plan);
    const auto offered = f.stage_.questions.at(0).proposed_amendment;
    CHECK(f.stage_.rules_added.size() == (offered.empty() ? 0u : 1u));
    CHECK(f.stage_.attempts.size() == 1);
  }

  TEST_CASE("§101 §131 §139 on-request: a denied write goes back as it is, without a question") {
    actor_fixture f;
    f.stage_.run = denied;
    const auto report = f.run(plan_of({"touch", "/etc/x"}));
    CHECK(report.ending == call_ending::completed);
    CHECK(f.stage_.questions.empty());
    CHECK(f.stage_.attempts.size() == 1);
    CHECK(report.message.find("/etc/x") != std::string::npos);
  }

  TEST_CASE("§106 §128 untrusted: the second attempt has its own approval and is the last") {
    actor_fixture f;
    f.stage_.run = denied;
    const auto report = f.run(plan_of({"make", "install"}, approval_mode::untrusted));
    REQUIRE(f.stage_.attempts.size() == 2);
    CHECK((*f.stage_.attempts[0])->sandbox_requested);
    CHECK_FALSE((*f.stage_.attempts[1])->sandbox_requested);
    REQUIRE(f.stage_.questions.size() == 2);
    CHECK(f.stage_.questions[0].review_id != f.stage_.questions[1].review_id);
    CHECK(f.stage_.questions[1].without_sandbox);
    CHECK(report.attempts.size() == 2);
  }

  TEST_CASE("§45 §128 a runtime that fails ends the call as failed, not as run") {
    actor_fixture f;
    caf::anon_send_exit(f.partners_.runtime, caf::exit_reason::user_shutdown);
    f.deliver();
    const auto report = f.run(plan_of({"ls"}));
    CHECK(report.ending == call_ending::failed);
    CHECK(exit_status(report) == 121);
  }

  TEST_CASE("§108 every registration of a managed network is closed") {
    actor_fixture f;
    auto plan = plan_of({"curl", "https://example.org"});
    plan.managed_network = true;
    plan.profile.network = network_policy::enabled;
    SUBCASE("after a plain end") {
      f.run(plan);
      CHECK((*f.stage_.attempts.at(0))->network == network_mode::proxy_only);
      CHECK(f.stage_.registered.size() == 1);
    }
    SUBCASE("around both attempts, and the host is asked about") {
      f.stage_.run = denied;
      f.stage_.network_sees = network_context{"https://example.org:443", true, true};
      f.run(plan);
      CHECK(f.stage_.registered.size() == 2);
      REQUIRE(f.stage_.questions.size() == 1);
      CHECK_FALSE(f.stage_.questions[0].without_sandbox);
      CHECK((*f.stage_.attempts.at(1))->sandbox_requested);
    }
    SUBCASE("and where it fails, nothing runs") {
      f.stage_.network_fails = true;
      CHECK(f.run(plan).ending == call_ending::failed);
      CHECK(f.stage_.attempts.empty());
    }
    CHECK(f.stage_.closed == f.stage_.registered);
  }

  TEST_CASE("§D10 a managed network without anybody who manages it runs nothing") {
    actor_fixture f;
    f.partners_.network = nullptr;
    auto plan = plan_of({"ls"});
    plan.managed_network = true;
    plan.profile.network = network_policy::enabled;
    CHECK(f.run(plan).ending == call_ending::failed);
    CHECK(f.stage_.attempts.empty());
  }

  TEST_CASE("§95 a cancellation reaches the runtime, and the call ends with the attempt") {
    actor_fixture f;
    f.stage_.run = [](const attempt&) { return std::nullopt; };
    f.begin(plan_of({"make"}));
    f.deliver();
    f.cancel();
    f.deliver();
    const auto report = f.report();
    REQUIRE(report);
    CHECK(exit_status(*report) == 120);
    CHECK(f.stage_.cancelled == std::vector<std::string>{"call-1"});
  }

  TEST_CASE("§99a a call that is killed answers its caller and ends what runs") {
    actor_fixture f;
    f.stage_.run = [](const attempt&) { return std::nullopt; };
    f.begin(plan_of({"make"}));
    f.deliver();
    f.kill_call();
    f.deliver();
    CHECK(f.report()->ending == call_ending::aborted);
    CHECK(f.stage_.cancelled.size() == 1);
  }

  TEST_CASE("§47 the order in which messages arrive changes no outcome") {
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
      CAPTURE(seed);
      std::mt19937 random{seed};
      actor_fixture f;
      f.stage_.run = denied;
      const bool cancels = seed % 3 == 0;
      f.begin(plan_of({"make", "install"}, approval_mode::untrusted));
      if (cancels) f.cancel();
      f.deliver_shuffled(random);
      const auto report = f.report();
      REQUIRE(report);
      CHECK(report->attempts.size() == f.stage_.attempts.size());
      CHECK(f.stage_.attempts.size() <= 2);
      if (!cancels) CHECK(report->attempts.size() == 2);
    }
  }
}
