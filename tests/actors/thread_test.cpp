#include "tests/actors/hosted_thread.hpp"

#include "reactor/clock.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;
using namespace gatehouse::actors::thread_messages;
using namespace std::chrono_literals;

namespace {

using verdict = review_decision;
using session = live_session;

} // namespace

TEST_SUITE("actors.thread") {
  TEST_CASE("§6 §D11 a call is one start and one end, with what happens numbered in between") {
    session s;
    s.open();
    s.begin("a", {"make", "x"});
    s.wait_for_questions(1);
    REQUIRE(s.answer(s.heard->questions().front(), verdict::approved));
    s.wait_for_reports(1);
    CHECK(s.report("a").ending == call_ending::completed);
    std::vector<std::size_t> kinds;
    for (std::size_t i = 0; i < s.heard->events.size(); ++i) {
      CHECK(s.heard->events[i]->seq == i + 1);
      kinds.push_back(s.heard->events[i]->what.index());
    }
    // turn, start, question, answer, attempt, output, end
    CHECK(kinds == std::vector<std::size_t>{0, 2, 3, 4, 5, 6, 9});
    CHECK(s.heard->all<thread_events::output_delta>().front().bytes == "ran x\n");
  }

  TEST_CASE("§D11 a call that is refused is an item all the same") {
    session s;
    s.terms.session.approval.mode = approval_mode::never;
    s.open();
    s.begin("a", {"rm", "-rf", "x"});
    s.wait_for_reports(1);
    CHECK(s.report("a").ending == call_ending::refused);
    CHECK(s.heard->all<thread_events::item_started>().size() == 1);
    REQUIRE(s.heard->all<thread_events::item_ended>().size() == 1);
    CHECK(s.heard->all<thread_events::item_ended>().front().report->call_id == "a");
  }

  TEST_CASE("§50 three questions at once are answered in any order, each for its own call") {
    std::vector<int> order{0, 1, 2};
    do {
      session s;
      s.open();
      for (const auto* id : {"a", "b", "c"})
        s.begin(id, {"make", id});
      s.wait_for_questions(3);
      const auto questions = s.heard->questions();
      for (const int i : order)
        REQUIRE(s.answer(questions[static_cast<std::size_t>(i)],
                         questions[static_cast<std::size_t>(i)].call_id == "b"
                             ? verdict::denied
                             : verdict::approved));
      s.wait_for_reports(3);
      CHECK(s.report("a").output.stdout_text == "ran a\n");
      CHECK(s.report("b").ending == call_ending::refused);
      CHECK(s.report("c").output.stdout_text == "ran c\n");
    } while (std::next_permutation(order.begin(), order.end()));
  }

  TEST_CASE("§50 an approval must carry the digest of what was shown, and the question stands on") {
    session s;
    s.open();
    s.begin("a", {"make"});
    s.wait_for_questions(1);
    const auto q = s.heard->questions().front();
    CHECK_FALSE(s.answer(q, verdict::approved, "another action"));
    CHECK_FALSE(s.answer(q, verdict::approved, ""));
    CHECK_FALSE(s.answer(q, verdict::approved_for_session)); // not on offer
    CHECK_FALSE(s.answer(q, verdict::network_policy_amendment));
    CHECK(s.status().open_reviews.size() == 1);
    CHECK_FALSE(s.ran());
    CHECK(s.answer(q, verdict::denied, ""));
    s.wait_for_reports(1);
    CHECK_FALSE(s.ran());
  }

  TEST_CASE("§48 the first valid answer wins; a second one is told that it came too late") {
    session s;
    s.open();
    s.begin("a", {"make"});
    s.wait_for_questions(1);
    const auto q = s.heard->questions().front();
    CHECK(s.answer(q, verdict::denied));
    const auto late = s.answer(q, verdict::approved);
    REQUIRE_FALSE(late);
    CHECK(late.error().message.find("no open question") != std::string::npos);
    s.wait_for_reports(1);
    CHECK_FALSE(s.ran());
  }

  TEST_CASE("§48a a question survives its client and is offered again under the same id") {
    session s;
    s.terms.reviewer_grace = 60s;
    s.open();
    s.begin("a", {"make"});
    s.wait_for_questions(1);
    const auto first = s.heard->questions().front();
    s.thread->send(unsubscribe{s.heard});
    (void)s.status();
    s.time->advance(59s);
    const auto second = std::make_shared<event_recorder>();
    s.thread->send(subscribe{second, true, {}});
    s.wait([&] { return !second->questions().empty(); });
    CHECK(second->questions().front().review_id == first.review_id);
    CHECK(second->events.front()->seq == s.heard->events.back()->seq);
    s.time->advance(60s);
    CHECK(s.answer(first, verdict::approved));
    s.wait_for_reports(1);
    CHECK(s.ran());
  }

  TEST_CASE("§48a a question whose client never comes back is refused once, and nothing runs") {
    session s;
    s.terms.reviewer_grace = 60s;
    s.open();
    s.begin("a", {"make"});
    s.wait_for_questions(1);
    s.thread->send(unsubscribe{s.heard});
    (void)s.status();
    s.time->advance(61s);
    s.wait_for_reports(1);
    CHECK(s.report("a").ending == call_ending::refused);
    REQUIRE(s.report("a").reviews.size() == 1);
    CHECK(s.report("a").reviews[0].reviewer == reviewer_kind::none);
    CHECK_FALSE(s.ran());
    CHECK(s.status().open_reviews.empty());
  }

  TEST_CASE("§48a where no one can be asked a question is a refusal that says why") {
    session s;
    s.open(false);
    s.begin("a", {"make"});
    s.wait_for_reports(1);
    CHECK(s.report("a").ending == call_ending::refused);
    CHECK(s.report("a").message.find("no one") != std::string::npos);
  }

  TEST_CASE("§48a a question that stands too long is refused") {
    session s;
    s.terms.review_limit = 600s;
    s.open();
    s.begin("a", {"make"});
    s.wait_for_questions(1);
    (void)s.status();
    s.time->advance(601s);
    s.wait_for_reports(1);
    CHECK(s.report("a").reviews.front().decision == verdict::timed_out);
    CHECK_FALSE(s.ran());
    CHECK_FALSE(s.answer(s.heard->questions().front(), verdict::approved));
  }

  TEST_CASE("a client that was away hears what it missed, as far as it is kept") {
    session s;
    s.terms.session.approval.mode = approval_mode::on_request;
    s.open();
    s.begin("a", {"make"});
    s.wait_for_reports(1);
    const auto late = std::make_shared<event_recorder>();
    s.thread->send(subscribe{late, false, 2});
    (void)s.status();
    REQUIRE(late->events.size() == s.heard->events.size() - 2);
    CHECK(late->events.front()->seq == 3);
  }

  TEST_CASE("a call id is used once, also when the call has ended") {
    session s;
    s.terms.session.approval.mode = approval_mode::on_request;
    s.open();
    s.begin("a", {"make"});
    s.wait_for_reports(1);
    s.reports.clear();
    s.begin("a", {"make"});
    s.begin("", {"make"});
    s.begin("b", {"make"}, "no such turn");
    s.wait_for_reports(3);
    for (const auto& [id, report] : s.reports)
      CHECK_FALSE(report);
    CHECK(s.heard->all<thread_events::item_started>().size() == 1);
  }

  TEST_CASE("§51 abort ends the turn: its other calls stop, later ones wait for the user") {
    session s;
    s.open();
    s.begin("a", {"make", "a"});
    s.begin("b", {"make", "b"});
    s.wait_for_questions(2);
    REQUIRE(s.answer(s.heard->questions().front(), verdict::abort));
    s.wait_for_reports(2);
    CHECK(s.report("a").ending == call_ending::aborted);
    CHECK(s.report("b").ending == call_ending::aborted);
    REQUIRE(s.heard->all<thread_events::turn_ended>().size() == 1);
    CHECK(s.heard->all<thread_events::turn_ended>()[0].how ==
          thread_events::turn_ending::interrupted);
    CHECK(s.status().stopped_because == "the user stopped it");
    CHECK_FALSE(s.answer(s.heard->questions().back(), verdict::approved));

    s.begin("c", {"ls"});
    s.wait_for_reports(3);
    CHECK(s.report("c").ending == call_ending::refused);
    CHECK(s.report("c").message.find("turn is over") != std::string::npos);
    CHECK_FALSE(s.ran());

    CHECK(s.start_turn("mine", false).error().code == errc::cancelled);
    CHECK(s.start_turn("next", true));
    s.begin("d", {"ls"}, "next");
    s.wait_for_reports(4);
    CHECK(s.report("d").ending == call_ending::completed);
  }

  TEST_CASE("§127 an interrupt takes questions back and ends what runs") {
    session s;
    s.open();
    s.thread->send(start_turn{"t", {}, true, {}});
    s.begin("a", {"make"});
    s.wait_for_questions(1);
    s.thread->send(end_turn{"another", thread_events::turn_ending::interrupted, {}});
    CHECK(s.status().turn_id == "t");
    s.thread->send(end_turn{"t", thread_events::turn_ending::interrupted, "the user said stop"});
    s.wait_for_reports(1);
    CHECK(s.report("a").ending == call_ending::aborted);
    CHECK(s.status().open_reviews.empty());
    CHECK(s.status().turn_id.empty());
    CHECK(s.status().stopped_because.empty());
    CHECK_FALSE(s.answer(s.heard->questions().front(), verdict::approved));
  }

  TEST_CASE(
      "§127 §51 a user's interrupt held nothing: the agent's next call opened a turn and ran") {
    session s;
    s.open();
    s.begin("a", {"make"});
    s.wait_for_questions(1);
    const auto open = s.status().turn_id;
    CHECK(s.end_turn({}, true));
    CHECK(s.end_turn(open, true)); // asked again, it is the same stop
    s.begin("b", {"ls"});
    s.wait_for_reports(2);
    CHECK(s.report("b").ending == call_ending::refused);
    CHECK(s.start_turn({}, false).error().code == errc::cancelled);
    CHECK(s.start_turn({}, true));
    s.begin("c", {"ls"});
    s.wait_for_reports(3);
    CHECK(s.report("c").ending == call_ending::completed);

    CHECK(s.end_turn({}, false));
    CHECK(s.end_turn({}, true)); // between two turns
    s.begin("d", {"ls"});
    s.wait_for_reports(4);
    CHECK(s.report("d").ending == call_ending::refused);
  }

  TEST_CASE("§201 the end of a turn that never was, or that is over, was taken for done") {
    session s;
    s.open();
    CHECK(s.start_turn("t", false));
    CHECK(s.end_turn("nope", false).error().code == errc::not_found);
    CHECK(s.end_turn("nope", true).error().code == errc::not_found);
    CHECK(s.status().turn_id == "t");
    CHECK(s.end_turn("t", false));
    CHECK(s.end_turn("t", false));
    CHECK(s.end_turn("t", true).error().code == errc::not_found); // it stops nothing
    CHECK(s.status().stopped_because.empty());
    s.begin("a", {"ls"}, "nope");
    s.wait_for_reports(1);
    CHECK(s.reports.at("a").error().code == errc::not_found);
  }

  TEST_CASE("a thread that is closed ends its calls, and tells who comes later") {
    session s;
    s.open();
    s.begin("a", {"make"});
    s.wait_for_questions(1);
    bool closed = false;
    s.thread->send(close_thread{[&] { closed = true; }});
    s.begin("b", {"make"});
    s.wait([&] { return closed && s.reports.size() == 2; });
    CHECK(s.report("a").ending == call_ending::aborted);
    CHECK_FALSE(s.reports.at("b"));
    CHECK_FALSE(s.ran());
  }
}
