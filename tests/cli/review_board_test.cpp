#include "cli/review_board.hpp"

#include "protocol/rpc/app_events.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>

using namespace gatehouse;
using namespace gatehouse::cli;

namespace {

review_request sample(const std::string& id = "r1") {
  review_request q;
  q.review_id = id;
  q.digest = "digest-" + id;
  q.what.argv = {"rm", "-rf", "build-" + id};
  q.what.cwd = "/repo";
  q.reason = "rm -f deletes without a question";
  q.will_be_allowed = "It runs once inside the sandbox.";
  return q;
}

rpc::app::approval_request asked(const std::string& id) {
  return rpc::app::approval_of("t1", {"turn", 1}, sample(id));
}

rpc::app::request_resolved resolved(const std::string& id, const std::string& reviewer = "user") {
  rpc::app::request_resolved outcome;
  outcome.request_id = id;
  outcome.decision = "accept";
  outcome.reviewer = reviewer;
  return outcome;
}

bool has(const board_step& step, std::string_view words) {
  return step.text.find(words) != std::string::npos;
}

const terminal_look plain;

/// Each look at the clock is one second after the last: everything has been read.
std::function<reading_time::time_point()> at_leisure() {
  return [now = reading_time::time_point{}]() mutable { return now += std::chrono::seconds{1}; };
}

} // namespace

TEST_SUITE("cli.review_board") {
  TEST_CASE("§204 a daemon's question reads as the same question of `run`") {
    auto q = sample();
    q.what.justification = "clean build";
    q.session_offered = true;
    q.proposed_amendment = {"rm", "-rf"};
    const auto here = question_text(view_of(q), "h", plain);
    CHECK(question_text(view_of(rpc::app::approval_of("t", {"u", 1}, q)), "h", plain) == here);
    q.what.argv = {"apply_patch", "*** Begin Patch\n*** Update File: a\n*** End Patch\n"};
    const auto patch = question_text(view_of(rpc::app::approval_of("t", {"u", 1}, q)), "h", plain);
    CHECK(patch.find("patch:   Update File: a\n") != std::string::npos);
    CHECK(patch.find("*** Update File: a\n") != std::string::npos);
  }

  TEST_CASE("§133a ? asks the daemon why, and answers nothing") {
    review_board board{at_leisure()};
    board.connected("unix:///s", {asked("r1")}, plain);
    const auto step = board.typed('?', plain);
    CHECK_FALSE(step.answer);
    REQUIRE(step.why);
    CHECK(step.why->thread_id == "t1");
    CHECK(step.why->request_id == "r1");
    CHECK(has(board.explained("segments:\n  \x1b[2J\n"), "segments:\n  \\x1b[2J\n> "));
    CHECK(board.typed('y', plain).answer);
    CHECK_FALSE(board.typed('?', plain).why);
  }

  TEST_CASE("§50 one key answers with the decision and the digest of what was shown") {
    review_board board{at_leisure()};
    CHECK(has(board.connected("unix:///s", {asked("r1")}, plain), "build-r1"));
    const auto step = board.typed('y', plain);
    REQUIRE(step.answer);
    CHECK(step.answer->request_id == "r1");
    CHECK(step.answer->decision == "\"accept\"");
    CHECK(step.answer->digest == "digest-r1");
    CHECK_FALSE(board.typed('y', plain).answer);
    CHECK(board.waits_for_daemon());
    CHECK(board.resolved(resolved("r1")).text.empty());
    CHECK_FALSE(board.waits_for_daemon());
    CHECK(board.standing() == 0);
  }

  TEST_CASE("§50 a key never answers a question that took the place of another") {
    review_board board{at_leisure()};
    board.connected("x", {asked("r1"), asked("r2")}, plain);
    const auto gone = board.resolved(resolved("r1", "hook"));
    CHECK(has(gone, "Answered elsewhere: accept by hook"));
    CHECK_FALSE(board.typed('y', plain).answer);
    CHECK(has(board.typed('\n', plain), "build-r2"));
    CHECK(board.typed('n', plain).answer->request_id == "r2");
  }

  TEST_CASE("§50 a yes for one host answered the question that took its place a moment later") {
    reading_time::time_point now{std::chrono::hours{1}};
    review_board board{[&now] { return now; }};
    board.connected("x", {asked("r1")}, plain);
    now += reading_time::span;
    CHECK(board.readable().text == "> ");
    CHECK(board.readable().text.empty()); // it has its prompt
    auto over = resolved("r1", "none");
    CHECK(has(board.resolved(over), "No question waits."));
    const auto drawn = board.asked(asked("r2"), plain);
    CHECK(drawn.drawn);
    CHECK(has(drawn, "build-r2"));
    CHECK_FALSE(drawn.text.ends_with("> "));
    now += reading_time::span - std::chrono::milliseconds{1};
    CHECK(board.readable().text.empty());
    for (const char key : {'y', 'q'}) {
      const auto step = board.typed(key, plain);
      CHECK_FALSE(step.answer);
      CHECK(step.forget_input);
      CHECK(has(step, read_it_first));
    }
    CHECK(board.typed('?', plain).why);
    CHECK_FALSE(board.explained("why").text.ends_with("> "));
    now += std::chrono::milliseconds{1};
    CHECK(board.readable().text == "> ");
    CHECK(board.typed('y', plain).answer->request_id == "r2");
  }

  TEST_CASE("§50 a no counts at once, and the next question is read anew") {
    const reading_time::time_point now{std::chrono::hours{1}};
    review_board board{[&now] { return now; }};
    board.connected("x", {asked("r1"), asked("r2")}, plain);
    const auto no = board.typed('n', plain);
    REQUIRE(no.answer);
    CHECK(no.answer->decision == "\"decline\"");
    CHECK(no.drawn);
    CHECK_FALSE(board.typed('y', plain).answer);
    CHECK(board.typed('j', plain).drawn);
    CHECK_FALSE(board.typed('y', plain).answer);
    CHECK(board.again(plain).drawn);
    CHECK_FALSE(board.typed('y', plain).answer);
  }

  TEST_CASE("§50 a question that nobody waits for any more is said to be answered by none") {
    review_board board{at_leisure()};
    board.connected("x", {asked("r1")}, plain);
    auto over = resolved("r1", "none");
    over.reason = "no connection waits";
    const auto step = board.resolved(over);
    CHECK(has(step, "No longer asked (no connection waits): "));
    CHECK(has(step, "No question waits."));
    CHECK_FALSE(has(step, "Answered"));
  }

  TEST_CASE("§50 a question that comes up forgets what was typed before") {
    review_board board{at_leisure()};
    CHECK(board.connected("x", {}, plain).forget_input);
    CHECK(board.asked(asked("r1"), plain).forget_input);
    CHECK_FALSE(board.asked(asked("r2"), plain).forget_input);
    CHECK(board.typed('n', plain).forget_input);
  }

  TEST_CASE("§204 no question is lost with the connection, and none is answered without it") {
    review_board board{at_leisure()};
    board.connected("x", {asked("r1"), asked("r2")}, plain);
    CHECK(has(board.lost("reset"), "reset"));
    CHECK_FALSE(board.typed('y', plain).answer);
    CHECK(board.lost("again").text.empty());
    CHECK(board.asked(asked("r1"), plain).text.empty());
    CHECK(has(board.connected("x", {asked("r2")}, plain), "build-r2"));
    CHECK(board.standing() == 1);
    CHECK(board.typed('y', plain).answer->request_id == "r2");
  }

  TEST_CASE("§204 an answer that was not taken leaves the question standing") {
    review_board board{at_leisure()};
    board.connected("x", {asked("r1")}, plain);
    board.typed('y', plain);
    const auto step = board.refused("r1", "another digest", plain);
    CHECK(has(step, "another digest"));
    CHECK(has(step, "build-r1"));
    CHECK(board.answered() == 0);
    CHECK(board.typed('n', plain).answer->decision == "\"decline\"");
  }

  TEST_CASE("§204 a question can wait, and leaving answers nothing") {
    review_board board{at_leisure()};
    board.connected("x", {asked("r1"), asked("r2")}, plain);
    CHECK(has(board.typed('j', plain), "build-r2"));
    CHECK(has(board.typed('l', plain), "build-r1"));
    const auto step = board.typed(4, plain);
    CHECK(step.leave);
    CHECK_FALSE(step.answer);
    CHECK(board.standing() == 2);
  }

  TEST_CASE("§204 a key that is not offered answers nothing and says which are") {
    review_board board{at_leisure()};
    board.connected("x", {asked("r1")}, plain);
    const auto step = board.typed('s', plain);
    CHECK_FALSE(step.answer);
    CHECK(has(step, "y, n, q"));
  }

  TEST_CASE(
      "§204 in a narrow window our words are wrapped and the command stays exactly as it is") {
    auto q = sample();
    q.what.argv = {"printf", std::string(200, 'a') + " b"};
    q.will_be_allowed =
        "It runs once inside the sandbox; what the profile does not grant stays refused.";
    terminal_look narrow;
    narrow.columns = 40;
    const auto text = question_text(view_of(q), "h", narrow);
    CHECK(text.find(std::string(200, 'a') + " b") != std::string::npos);
    CHECK(text.find("\n           ") != std::string::npos);
    CHECK(text.find('\x1b') == std::string::npos);
    narrow.colours = true;
    CHECK(question_text(view_of(q), "h", narrow).find("\x1b[1m[y]\x1b[0m") != std::string::npos);
  }
}
