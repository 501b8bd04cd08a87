#include "tests/actors/hosted_thread.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;
using namespace gatehouse::actors::thread_messages;

namespace {

struct changed_session : live_session {
  std::optional<result<void>> change(const thread_terms& wanted) {
    std::optional<result<void>> how;
    thread->send(update_settings{std::make_shared<const thread_terms>(wanted),
                                 {folder.path()},
                                 "custom",
                                 [&](const result<void>& r) { how = r; }});
    wait([&] { return how.has_value(); });
    return how;
  }
  [[nodiscard]] thread_terms under(approval_mode mode) const {
    auto wanted = terms;
    wanted.session.approval.mode = mode;
    return wanted;
  }
};

} // namespace

TEST_SUITE("actors.thread_settings") {
  TEST_CASE("§2a other settings are for the calls to come; a question that stands keeps its own") {
    changed_session s;
    s.open();
    s.begin("a", {"make"});
    s.wait_for_questions(1);
    REQUIRE(s.change(s.under(approval_mode::never))->has_value());
    s.begin("b", {"make"});
    s.wait_for_reports(1);
    CHECK(s.report("b").ending == call_ending::completed); // inside the sandbox, and unasked
    CHECK(s.heard->questions().size() == 1);
    REQUIRE(s.answer(s.heard->questions().front(), review_decision::approved));
    s.wait_for_reports(2);
    CHECK(s.report("a").ending == call_ending::completed);
    const auto told = s.heard->all<thread_events::settings_changed>();
    REQUIRE(told.size() == 1);
    CHECK(told.front().approval_json == "\"never\"");
    CHECK(told.front().profile == "custom");
  }

  TEST_CASE("§52 an approval for the session ends with its settings, also when they come back") {
    changed_session s;
    s.terms.session_approvals = true;
    s.open();
    s.begin("a", {"make"});
    s.wait_for_questions(1);
    REQUIRE(s.answer(s.heard->questions().front(), review_decision::approved_for_session));
    s.wait_for_reports(1);
    s.begin("b", {"make"});
    s.wait_for_reports(2);
    CHECK(s.heard->questions().size() == 1);
    CHECK(s.status().approvals.size() == 1);
    auto wanted = s.under(approval_mode::untrusted);
    wanted.session_approvals = true;
    wanted.session.profile = read_only_profile();
    REQUIRE(s.change(wanted)->has_value());
    wanted.session.profile = s.terms.session.profile;
    REQUIRE(s.change(wanted)->has_value());
    CHECK(s.status().approvals.empty());
    s.begin("c", {"make"});
    s.wait_for_questions(2);
    REQUIRE(s.answer(s.heard->questions().back(), review_decision::denied));
    s.wait_for_reports(3);
  }

  TEST_CASE("an approval that was asked for before and given after the change is not remembered") {
    changed_session s;
    s.terms.session_approvals = true;
    s.open();
    s.begin("a", {"make"});
    s.wait_for_questions(1);
    auto wanted = s.under(approval_mode::untrusted);
    wanted.session_approvals = true;
    REQUIRE(s.change(wanted)->has_value());
    REQUIRE(s.answer(s.heard->questions().front(), review_decision::approved_for_session));
    s.wait_for_reports(1);
    s.begin("b", {"make"});
    s.wait_for_questions(2);
    REQUIRE(s.answer(s.heard->questions().back(), review_decision::denied));
    s.wait_for_reports(2);
  }

  TEST_CASE("a thread that is closing takes no other settings") {
    changed_session s;
    s.open();
    s.thread->send(close_thread{});
    CHECK_FALSE(s.change(s.under(approval_mode::never))->has_value());
  }
}
