#include "actors/guardian.hpp"
#include "tests/support/run_program.hpp"

#include <doctest/doctest.h>

#include <optional>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

using kind = guardian_result::kind;
using enum risk_level;

constexpr std::chrono::seconds hang_guard{60};
program_place place() {
  return {tests::built("gatehouse-sandbox"), "/", {"PATH=/usr/bin:/bin"}};
}

guardian_result judged(bool allow, risk_level risk, user_authorization authorization) {
  return judge_assessment({allow, risk, authorization, "because"});
}

guardian_result ask(const std::string& script, std::string prompt = "q") {
  reactor::event_loop loop;
  guardian_program program;
  program.argv = {"/bin/sh", "-c", script};
  program.place = place();
  const auto transport = run_guardian_program(loop, program);
  std::optional<guardian_reply> reply;
  const auto handle =
      transport({"review-1", std::move(prompt)}, [&](guardian_reply r) { reply = std::move(r); });
  REQUIRE(loop.run_until([&] { return reply.has_value(); }, hang_guard));
  return judge_reply(*reply);
}

} // namespace

TEST_SUITE("actors.guardian") {
  TEST_CASE("§D9 what an allow is worth depends on risk and authorisation") {
    for (const auto authorization : {user_authorization::unknown, user_authorization::low,
                                     user_authorization::medium, user_authorization::high}) {
      const bool authorized = authorization >= user_authorization::medium;
      CHECK(judged(true, low, authorization).what == kind::allowed);
      CHECK(judged(true, medium, authorization).what == kind::allowed);
      CHECK(judged(true, high, authorization).what == (authorized ? kind::allowed : kind::refused));
      CHECK(judged(true, critical, authorization).what == kind::refused);
      for (const auto risk : {low, medium, high, critical})
        CHECK(judged(false, risk, authorization).what == kind::refused);
    }
    CHECK(judged(false, low, user_authorization::high).reason ==
          "judged to be of low risk. Reason: because");
  }

  TEST_CASE("§48a time-out, failure and malformed answer are never an allow and never a verdict") {
    CHECK(judge_reply({guardian_reply::kind::timed_out, "late"}).what == kind::timed_out);
    CHECK(judge_reply({guardian_reply::kind::failed, "HTTP 500"}) ==
          guardian_result{kind::unavailable, "HTTP 500"});
    const auto malformed = judge_reply({guardian_reply::kind::text, "I would allow it"});
    CHECK(malformed.what == kind::unavailable);
    CHECK(malformed.reason.find("automatic reviewer's answer") != std::string::npos);
  }

  TEST_CASE("§48 §49 the automatic reviewer is in charge where configured, and in strict review") {
    approval_policy p;
    const auto in_charge = [&](approval_mode mode, bool configured, bool strict) {
      p.mode = mode;
      return guardian_in_charge(p, configured, strict);
    };
    using enum approval_mode;
    CHECK(in_charge(on_request, true, false));
    CHECK(in_charge(granular, true, false));
    CHECK_FALSE(in_charge(untrusted, true, false));
    CHECK_FALSE(in_charge(never, true, false));
    CHECK_FALSE(in_charge(on_request, false, false));
    for (const auto mode : {on_request, granular, untrusted, never})
      CHECK(in_charge(mode, false, true));
  }

  TEST_CASE("§48a a program may be the reviewer") {
    const std::string allow = R"(echo '{"outcome":"allow","risk_level":"low"}')";
    CHECK(ask(allow).what == kind::allowed);
    CHECK(ask("grep -q '\"prompt\":\"q\"' && " + allow).what == kind::allowed);
    CHECK(ask(R"(echo '{"outcome":"deny","rationale":"no"}')").what == kind::refused);
    for (const auto& script :
         {allow + "; exit 1", allow + "; kill -9 $$", std::string{"true"}, std::string{"echo yes"},
          std::string{"yes"}, allow + "; " + allow, std::string{"/nonexistent/reviewer"}})
      CHECK_MESSAGE(ask(script).what == kind::unavailable, script);
  }

  TEST_CASE("§48a a program that does not exist makes the reviewer unavailable") {
    reactor::event_loop loop;
    guardian_program program;
    program.argv = {"/nonexistent/reviewer"};
    program.place = place();
    std::optional<guardian_reply> reply;
    const auto handle = run_guardian_program(loop, program)(
        {"review-1", "q"}, [&](guardian_reply r) { reply = std::move(r); });
    REQUIRE(loop.run_until([&] { return reply.has_value(); }, hang_guard));
    CHECK(reply->what == guardian_reply::kind::failed);
    CHECK(reply->text.find("/nonexistent/reviewer") != std::string::npos);
  }

  TEST_CASE("§48a a program that hangs is a time-out at its limit") {
    auto time = std::make_shared<reactor::manual_clock>();
    reactor::event_loop loop{time};
    guardian_program program;
    program.argv = {"/bin/sleep", "1000"};
    program.place = place();
    std::optional<guardian_reply> reply;
    const auto handle = run_guardian_program(loop, program)(
        {"review-1", "q"}, [&](guardian_reply r) { reply = std::move(r); });
    time->advance(std::chrono::seconds{89});
    CHECK_FALSE(reply);
    time->advance(std::chrono::seconds{1});
    REQUIRE(loop.run_until([&] { return reply.has_value(); }, hang_guard));
    CHECK(reply->what == guardian_reply::kind::timed_out);
  }
}
