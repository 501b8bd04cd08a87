#include "cli/question_answer.hpp"
#include "cli/reading_time.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace gatehouse;
using namespace gatehouse::cli;

namespace {

review_request sample() {
  review_request q;
  q.review_id = "r1";
  q.digest = "d1";
  q.what.argv = {"rm", "-rf", "build"};
  return q;
}

constexpr std::string_view why = "segments\n  rm: danger\x1b[2J\n";

std::optional<review_decision> said(const review_request& question, std::string_view line) {
  const auto step = type_answer(question, line, why, true);
  return step.answer ? std::optional{step.answer->decision} : std::nullopt;
}

} // namespace

TEST_SUITE("cli.question_answer") {
  TEST_CASE("§133a ? at the terminal of `run` says why, and answers nothing") {
    const auto step = type_answer(sample(), "?", why, true);
    CHECK_FALSE(step.answer);
    CHECK(step.text == "\nsegments\n  rm: danger\\x1b[2J\n\n");
  }

  TEST_CASE("§204 a letter answers what the question offers, for exactly what was shown") {
    auto q = sample();
    const auto step = type_answer(q, "y", why, true);
    REQUIRE(step.answer);
    CHECK(step.answer->review_id == "r1");
    CHECK(step.answer->digest == "d1");
    CHECK(step.answer->reviewer == reviewer_kind::user);
    CHECK(said(q, "y") == review_decision::approved);
    CHECK(said(q, "n") == review_decision::denied);
    CHECK(said(q, "q") == review_decision::abort);
    CHECK_FALSE(said(q, "s"));
    CHECK_FALSE(said(q, "r"));
    q.session_offered = true;
    q.proposed_amendment = {"rm"};
    CHECK(said(q, "s") == review_decision::approved_for_session);
    CHECK(said(q, "r") == review_decision::approved_execpolicy_amendment);
  }

  TEST_CASE("§113 a rule about a host is made only where no rule stands against it") {
    auto q = sample();
    q.network.emplace();
    CHECK(said(q, "r") == review_decision::network_policy_amendment);
    CHECK(type_answer(q, "d", why, true).answer->denies_host);
    q.prompt_rule_stands = true;
    CHECK_FALSE(said(q, "r"));
    CHECK(said(q, "d") == review_decision::network_policy_amendment);
  }

  TEST_CASE("§50 a yes for one host answered the question that took its place a moment later") {
    auto q = sample();
    q.session_offered = true;
    q.network.emplace();
    reading_time reading;
    reading_time::time_point now{std::chrono::hours{1}};
    reading.start(now);
    now += reading_time::span - std::chrono::milliseconds{1};
    CHECK(reading.left(now) == std::chrono::milliseconds{1});
    for (const std::string_view line : {"y", "s", "r", "d", "q"}) {
      CAPTURE(line);
      const auto step = type_answer(q, line, why, reading.over(now));
      CHECK_FALSE(step.answer);
      CHECK(step.text == read_it_first);
    }
    CHECK(type_answer(q, "n", why, reading.over(now)).answer->decision == review_decision::denied);
    CHECK(type_answer(q, "?", why, reading.over(now)).text.find("segments") != std::string::npos);
    CHECK(type_answer(q, "x", why, reading.over(now)).text.find("letters") != std::string::npos);
    now += std::chrono::milliseconds{1};
    CHECK(reading.left(now) == std::chrono::milliseconds{0});
    CHECK(type_answer(q, "y", why, reading.over(now)).answer);
    reading.start(now); // drawn anew
    CHECK_FALSE(type_answer(q, "y", why, reading.over(now)).answer);
  }

  TEST_CASE("§204 everything else is no answer: the question stands, and says what it takes") {
    for (const std::string_view line : {"", "yes", "Y", " y", "??", "y\r", "why"}) {
      CAPTURE(line);
      const auto step = type_answer(sample(), line, why, true);
      CHECK_FALSE(step.answer);
      CHECK(step.text == "  please type one of the letters in brackets, then Enter\n");
    }
  }
}
