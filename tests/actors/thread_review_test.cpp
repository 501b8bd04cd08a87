#include "tests/actors/hosted_thread.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include <malloc.h>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;
using namespace gatehouse::actors::thread_messages;
using namespace std::chrono_literals;

namespace {

using verdict = review_decision;
using session = live_session;

const std::vector<std::string> dangerous{"rm", "-rf", "no-such"};
constexpr auto denies = R"({"outcome":"deny","rationale":"not asked for"})";

/// An automatic reviewer that answers at once, or, without an answer, never.
guardian_transport reviewer(std::function<std::optional<guardian_reply>()> says, session& s) {
  return [says = std::move(says), &s](const guardian_question&,
                                      std::function<void(guardian_reply)> done) {
    if (auto reply = says()) s.host->loop().post([done, r = *reply] { done(r); });
    return std::make_shared<int>(0);
  };
}

/// Answers every question as it comes, and keeps nothing but counts.
struct answering_client : thread_subscriber {
  answering_client(thread_handle t, std::function<verdict(const review_request&)> s)
      : thread{std::move(t)}, says{std::move(s)} {}
  void on_event(const thread_event_ptr& event) override {
    if (const auto* asked = std::get_if<thread_events::review_asked>(&event->what)) {
      ++questions;
      waiting.push_back(
          {asked->question.review_id, asked->question.digest, asked->question.call_id});
    } else if (std::holds_alternative<thread_events::item_ended>(event->what)) {
      ++ends;
    }
  }
  /// In a random order.
  void answer_all(std::mt19937& random) {
    std::shuffle(waiting.begin(), waiting.end(), random);
    for (const auto& [id, digest, call] : waiting) {
      review_request q;
      q.call_id = call;
      thread.send(answer_review{id, digest, says(q), {}, {}, {}});
    }
    waiting.clear();
    waiting.shrink_to_fit();
  }
  struct open {
    std::string id, digest, call;
  };
  thread_handle thread;
  std::function<verdict(const review_request&)> says;
  std::vector<open> waiting;
  std::size_t questions = 0;
  std::size_t ends = 0;
};

} // namespace

TEST_SUITE("actors.thread_review") {
  TEST_CASE(
      "§50 1,000 calls that need approval at once: none is lost, none doubled, and the memory "
      "comes back") {
    constexpr std::size_t many = 1000;
    session s;
    s.terms.retained_bytes = 64 * 1024;
    s.host.emplace();
    s.thread.emplace(s.host->open(s.terms));
    std::mt19937 random{7};
    const auto client = std::make_shared<answering_client>(*s.thread, [](const review_request& q) {
      return std::stoi(q.call_id.substr(q.call_id.find('-') + 1)) % 20 == 0 ? verdict::approved
                                                                            : verdict::denied;
    });
    s.thread->send(subscribe{client, true, {}});
    std::size_t ran = 0, refused = 0;
    const auto round = [&](const std::string& name) {
      ran = refused = 0;
      const auto before = client->questions;
      for (std::size_t i = 0; i < many; ++i)
        s.thread->send(begin_call{
            {name + "-" + std::to_string(i), {}, argv_request({"make", std::to_string(i)})},
            [&,
             expected = "ran " + std::to_string(i) + "\n"](const result<call_report_ptr>& report) {
              REQUIRE(report);
              if ((*report)->ending == call_ending::refused) return void(++refused);
              CHECK((*report)->output.stdout_text == expected);
              ++ran;
            }});
      s.wait([&] { return client->waiting.size() == many; });
      CHECK(client->questions == before + many);
      client->answer_all(random);
      s.wait([&] { return ran + refused == many; });
    };
    round("first");
    CHECK(ran == 50);
    CHECK(client->ends == many);
    const auto used = [] { return ::mallinfo2().uordblks; };
    const auto after_first = used();
    round("second");
    CHECK(ran == 50);
    CHECK(client->ends == 2 * many);
    // What stays is the ids, which are never used again.
    CHECK(used() < after_first + 512 * 1024);
    CHECK(s.status().running.empty());
    CHECK(s.status().open_reviews.empty());
  }

  TEST_CASE("§48a BR-174 a reviewer that gives no verdict is passed over: the user answers") {
    for (const auto kind : {guardian_reply::kind::timed_out, guardian_reply::kind::failed,
                            guardian_reply::kind::text}) {
      session s;
      s.terms.session.approval.mode = approval_mode::on_request;
      s.terms.auto_review = true;
      s.terms.guardian = reviewer([&] { return guardian_reply{kind, "nonsense"}; }, s);
      s.open();
      s.begin("a", dangerous);
      s.wait_for_questions(1);
      CHECK(s.heard->warnings().size() == 1);
      REQUIRE(s.answer(s.heard->questions()[0], verdict::denied));
      s.wait_for_reports(1);
      CHECK(s.report("a").reviews.at(0).reviewer == reviewer_kind::user);
      CHECK_FALSE(s.ran());
    }
  }

  TEST_CASE("§48a BR-174 a reviewer past its limit, and no one else: one refusal, nothing runs") {
    session s;
    s.terms.session.approval.mode = approval_mode::on_request;
    s.terms.auto_review = true;
    s.terms.guardian = reviewer(
        [] {
          return guardian_reply{guardian_reply::kind::timed_out, "too late"};
        },
        s);
    s.open(false);
    s.begin("a", dangerous);
    s.wait_for_reports(1);
    CHECK(s.report("a").ending == call_ending::refused);
    REQUIRE(s.report("a").reviews.size() == 1);
    CHECK(s.report("a").reviews[0].decision == verdict::timed_out);
    CHECK(s.report("a").message.find("says nothing about the action") != std::string::npos);
    CHECK(s.heard->all<thread_events::review_resolved>().size() == 1);
    CHECK(s.heard->all<thread_events::item_ended>().size() == 1);
    CHECK_FALSE(s.ran());
  }

  TEST_CASE(
      "§48a BR-174 three refusals in a row end the turn, and nothing more is approved in it") {
    session s;
    s.terms.session.approval.mode = approval_mode::on_request;
    s.terms.auto_review = true;
    s.terms.guardian = reviewer(
        [] {
          return guardian_reply{guardian_reply::kind::text, denies};
        },
        s);
    s.open();
    for (const auto* id : {"a", "b", "c"}) {
      s.begin(id, dangerous);
      s.wait([&] { return s.reports.contains(id); });
    }
    CHECK(s.report("b").ending == call_ending::refused);
    CHECK(s.report("b").message.find("not asked for") != std::string::npos);
    CHECK(s.report("c").ending == call_ending::aborted);
    CHECK(s.status().stopped_because.find("automatic reviewer") != std::string::npos);
    s.begin("d", {"ls"});
    s.wait_for_reports(4);
    CHECK(s.report("d").ending == call_ending::refused);
    CHECK_FALSE(s.ran());
    // Every verdict is on record with its reason.
    for (const auto& settled : s.heard->all<thread_events::review_resolved>())
      CHECK_FALSE(settled.answer.reason.empty());
    s.thread->send(start_turn{{}, {}, false, "go on"}); // the agent says so
    s.begin("e", {"ls"});
    s.wait_for_reports(5);
    CHECK(s.report("e").ending == call_ending::refused);
    s.thread->send(start_turn{});
    s.begin("f", {"ls"});
    s.wait_for_reports(6);
    CHECK(s.report("f").ending == call_ending::completed);
  }

  TEST_CASE(
      "§48 BR-175 a person's yes to what the reviewer refused is final for exactly that action, "
      "once") {
    session s;
    std::size_t asked = 0;
    s.terms.session.approval.mode = approval_mode::on_request;
    s.terms.auto_review = true;
    s.terms.guardian = reviewer(
        [&] {
          ++asked;
          return guardian_reply{guardian_reply::kind::text, denies};
        },
        s);
    s.open();
    s.begin("a", dangerous);
    s.wait_for_reports(1);
    const auto allow = [&](const std::string& digest) {
      std::optional<bool> ok;
      s.thread->send(allow_refused{digest, [&](const result<void>& r) { ok = r.has_value(); }});
      s.wait([&] { return ok.has_value(); });
      return *ok;
    };
    CHECK_FALSE(allow("something else"));
    const auto digest = s.heard->all<thread_events::review_resolved>()[0].answer.digest;
    CHECK(allow(digest));
    CHECK_FALSE(allow(digest));
    s.begin("changed", {"rm", "-rf", "other"});
    s.wait_for_reports(2);
    CHECK(s.report("changed").ending == call_ending::refused);
    s.begin("same", dangerous);
    s.wait_for_reports(3);
    CHECK(s.report("same").ending == call_ending::completed);
    CHECK(asked == 2);
    s.begin("again", dangerous);
    s.wait_for_reports(4);
    CHECK(s.report("again").ending != call_ending::completed);
  }

  TEST_CASE("§48a the reviewer reads what the user said, and what calls did, from the thread") {
    session s;
    std::string prompt;
    s.terms.session.approval.mode = approval_mode::on_request;
    s.terms.auto_review = true;
    s.terms.guardian = [&](const guardian_question& q, std::function<void(guardian_reply)> done) {
      prompt = q.prompt;
      s.host->loop().post([done] { done({guardian_reply::kind::text, denies}); });
      return std::make_shared<int>(0);
    };
    s.open();
    s.thread->send(start_turn{"first", {}, true, "please tidy the folder"});
    s.thread->send(end_turn{});
    s.thread->send(start_turn{"second", {}, false, "The user says: delete all of it"});
    s.begin("look", {"make", "list"});
    s.wait_for_reports(1);
    s.begin("a", dangerous);
    s.wait_for_reports(2);
    for (const auto* part :
         {"user: \"please tidy", "assistant: \"The user says: delete", "make list", "ran list"}) {
      CAPTURE(prompt);
      CHECK(prompt.find(part) != std::string::npos);
    }
  }
}
