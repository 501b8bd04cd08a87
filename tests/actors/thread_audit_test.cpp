#include "tests/actors/hosted_thread.hpp"

#include "actors/audit/audit_sink.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;

namespace {

/// An audit that writes when the test says so, or not at all.
struct held_sink : audit_sink {
  reactor::event_loop* loop = nullptr;
  std::set<audit_kind> held;    ///< kinds that wait for release()
  std::set<audit_kind> refused; ///< kinds that cannot be written
  std::mutex mutex;             ///< rules are recorded by a worker
  std::vector<audit_record> entries;
  std::deque<std::function<void()>> waiting;

  result<void> take(const audit_record& entry) {
    const std::lock_guard lock{mutex};
    if (refused.contains(entry.kind)) return error{errc::io, "the disk is full", {}};
    entries.push_back(entry);
    return {};
  }
  void record(audit_record entry, std::function<void(const result<void>&)> written) override {
    const bool waits = held.contains(entry.kind);
    auto answer = [this, entry = std::move(entry), written = std::move(written)] {
      const auto how = take(entry);
      if (written) written(how);
    };
    if (waits)
      waiting.push_back(std::move(answer));
    else
      loop->post(std::move(answer));
  }
  result<void> record_and_wait(audit_record entry) override { return take(entry); }

  void release() {
    for (auto& answer : std::exchange(waiting, {}))
      loop->post(std::move(answer)); // behind what is on its way
  }
  [[nodiscard]] std::vector<std::string> kinds() const {
    std::vector<std::string> found;
    for (const auto& e : entries)
      found.emplace_back(to_string(e.kind));
    return found;
  }
};

/// A helper that waits for a signal and notes it.
constexpr auto signalled_helper = R"(#!/bin/sh
trap 'echo usr1 >> "${0%/*}/ran"; echo "{\"event\":\"exited\",\"exit_code\":0}" >&3; exit 0' USR1
echo '{"event":"started"}' >&3
while :; do sleep 0.05; done
)";

/// A helper that waits for a line and says which it was.
constexpr auto reading_helper = R"(#!/bin/sh
echo '{"event":"started"}' >&3
read line
echo "$line" >> "${0%/*}/ran"
echo '{"event":"exited","exit_code":7}' >&3
exit 7
)";

/// The same with the size of its terminal.
constexpr auto measuring_helper = R"(#!/bin/sh
echo '{"event":"started"}' >&3
read line
stty size >> "${0%/*}/ran"
echo '{"event":"exited","exit_code":7}' >&3
exit 7
)";

struct audited_session : live_session {
  std::shared_ptr<held_sink> sink = std::make_shared<held_sink>();

  void open_audited() {
    host.emplace(time);
    sink->loop = &host->loop();
    host->record_in({sink, "test", "1"});
    thread.emplace(host->open(terms));
    thread->send(thread_messages::subscribe{heard, true, {}});
  }
  void wait_until_held() {
    wait([&] { return !sink->waiting.empty(); });
  }
  /// Opens the thread, on the clock of the machine, and starts a terminal session by the call `id`,
  /// which it outlives; gives its number.
  int begin_terminal(const std::string& id, const char* helper = reading_helper) {
    terms.session.approval.mode = approval_mode::on_request;
    terms.shell.helper = folder.write("reader", helper);
    std::filesystem::permissions(terms.shell.helper, std::filesystem::perms::owner_all);
    time = nullptr;
    open_audited();
    terminal_request wish;
    wish.command.command = "read line";
    wish.tty = true;
    wish.yield = std::chrono::milliseconds{250};
    begin(id, tool_arguments{wish});
    wait_for_reports(1);
    REQUIRE(report(id).session_id);
    return *report(id).session_id;
  }
  [[nodiscard]] std::vector<std::string> kinds_of(const std::string& call) const {
    std::vector<std::string> found;
    for (const auto& e : sink->entries)
      if (e.call == call) found.emplace_back(to_string(e.kind));
    return found;
  }
};

using verdict = review_decision;

} // namespace

TEST_SUITE("actors.thread_audit") {
  TEST_CASE("§205 §D11 a call that is asked about leaves every step in order") {
    audited_session s;
    s.open_audited();
    s.begin("a", {"make", "x"});
    s.wait_for_questions(1);
    REQUIRE(s.answer(s.heard->questions().front(), verdict::approved));
    s.wait_for_reports(1);
    CHECK(s.sink->kinds() == std::vector<std::string>{"session", "request", "decision", "question",
                                                      "review", "attempt", "attempt_end", "end"});
    const auto& turn = s.heard->events.front()->turn_id;
    for (const auto& e : s.sink->entries) {
      CHECK(e.session == s.thread->id());
      if (e.kind == audit_kind::session) continue;
      CHECK(e.call == "a");
      CHECK(e.turn == turn);
    }
    CHECK(s.sink->entries[5].attempt == 1);
    const auto id = s.heard->questions().front().review_id;
    CHECK(s.sink->entries[5].body.find(id) != std::string::npos); // by which approval it runs
  }

  TEST_CASE("§205 §D11 a call that policy refuses is recorded with its decision and its end") {
    audited_session s;
    s.terms.session.approval.mode = approval_mode::never;
    s.open_audited();
    s.begin("a", {"rm", "-rf", "x"});
    s.wait_for_reports(1);
    CHECK(s.sink->kinds() == std::vector<std::string>{"session", "request", "decision", "end"});
  }

  TEST_CASE(
      "§205 an attempt starts when its entry stands, and the end is told when its entry stands") {
    audited_session s;
    s.sink->held = {audit_kind::attempt, audit_kind::end};
    s.open_audited();
    s.begin("a", {"ls"});
    s.wait_until_held();
    CHECK_FALSE(s.ran());
    CHECK(s.heard->all<thread_events::attempt_began>().empty());
    s.sink->release();
    s.wait_until_held();
    CHECK(s.ran());
    CHECK(s.reports.empty());
    CHECK(s.heard->all<thread_events::item_ended>().empty());
    s.sink->release();
    s.wait_for_reports(1);
    CHECK(s.report("a").ending == call_ending::completed);
  }

  TEST_CASE("§205 what cannot be recorded does not run, and the reason is told") {
    audited_session s;
    s.sink->refused = {audit_kind::attempt};
    s.open_audited();
    s.begin("a", {"ls"});
    s.wait_for_reports(1);
    CHECK_FALSE(s.ran());
    CHECK(s.report("a").ending == call_ending::failed);
    CHECK(s.report("a").message.find("could not be recorded") != std::string::npos);
    CHECK(s.report("a").message.find("the disk is full") != std::string::npos);
  }

  TEST_CASE("§205 an end that cannot be recorded is told as that") {
    audited_session s;
    s.sink->refused = {audit_kind::end};
    s.open_audited();
    s.begin("a", {"ls"});
    s.wait_for_reports(1);
    CHECK(s.ran());
    CHECK(s.report("a").message.find("could not be recorded") != std::string::npos);
  }

  TEST_CASE("§205 an approval counts when it is recorded; a no holds without") {
    for (const auto said : {verdict::approved, verdict::denied}) {
      audited_session s;
      s.sink->refused = {audit_kind::review};
      s.open_audited();
      s.begin("a", {"make", "x"});
      s.wait_for_questions(1);
      REQUIRE(s.answer(s.heard->questions().front(), said));
      s.wait_for_reports(1);
      CHECK(s.report("a").ending == call_ending::refused);
      CHECK_FALSE(s.ran());
      const bool told = s.report("a").message.find("could not be recorded") != std::string::npos;
      CHECK(told == (said == verdict::approved));
    }
  }

  TEST_CASE("§205 a call that is cancelled while its entry is written never runs") {
    audited_session s;
    s.sink->held = {audit_kind::attempt};
    s.open_audited();
    s.begin("a", {"ls"});
    s.wait_until_held();
    s.thread->send(thread_messages::cancel_call{"a"});
    s.wait_for_reports(1);
    s.sink->release();
    s.sink->held.clear();
    s.begin("b", {"ls", "b"});
    s.wait_for_reports(2);
    CHECK(s.report("a").ending == call_ending::aborted);
    CHECK(s.folder.read("ran") == "b\n");
  }

  TEST_CASE("§122 §205 what is typed into a terminal session stands first, and its end is told") {
    audited_session s;
    const auto session = s.begin_terminal("a");
    CHECK(s.sink->kinds() == std::vector<std::string>{"session", "request", "decision", "attempt",
                                                      "attempt_end", "end"});
    CHECK(s.sink->entries[4].body.find("\"running\"") != std::string::npos);

    s.sink->held = {audit_kind::attempt};
    s.begin("b", tool_arguments{stdin_arguments{session, "hello\n", hang_guard, {}}});
    s.wait_until_held();
    CHECK_FALSE(s.ran());
    s.sink->release();
    s.wait_for_reports(2);
    CHECK(s.folder.read("ran") == "hello\n");
    CHECK(s.report("b").attempts.back().exit_code == 7);
    CHECK(s.kinds_of("a") == std::vector<std::string>{"request", "decision", "attempt",
                                                      "attempt_end", "end", "attempt_end"});
    CHECK(s.kinds_of("b") == std::vector<std::string>{"request", "attempt", "end"});
    const auto end = std::find_if(s.sink->entries.rbegin(), s.sink->entries.rend(),
                                  [](const auto& e) { return e.call == "a"; });
    REQUIRE(end != s.sink->entries.rend());
    CHECK(end->body.find("\"exit_code\":7") != std::string::npos);
    CHECK(end->attempt == 1);
    CHECK(end->turn == s.sink->entries[1].turn);
  }

  TEST_CASE("§122 §205 what cannot be recorded is not typed; a poll types nothing and goes on") {
    audited_session s;
    const auto session = s.begin_terminal("a");
    s.sink->refused = {audit_kind::attempt};
    s.begin("b", tool_arguments{stdin_arguments{session, "hello\n", hang_guard, {}}});
    s.wait_for_reports(2);
    CHECK(s.report("b").ending == call_ending::failed);
    CHECK(s.report("b").message.find("could not be recorded") != std::string::npos);
    s.begin("c", tool_arguments{stdin_arguments{session, "", std::chrono::milliseconds{250}, {}}});
    s.wait_for_reports(3);
    CHECK(s.report("c").session_id == session);
    CHECK_FALSE(s.ran());
  }

  TEST_CASE("§127 §205 a terminal was resized without an entry, and a hundred sizes are not a "
            "hundred entries") {
    audited_session s;
    const auto session = s.begin_terminal("a", measuring_helper);
    s.sink->held = {audit_kind::attempt};
    int done = 0;
    for (int rows = 1; rows <= 100; ++rows)
      s.thread->send(thread_messages::resize_terminal{
          session, rows, 132, [&done](const result<void>& how) { done += how ? 1 : 0; }});
    s.wait_until_held();
    CHECK(s.sink->waiting.size() == 1);
    CHECK(done == 0);
    s.sink->release();
    s.wait_until_held(); // the newest of the others
    CHECK(done == 1);
    s.sink->held.clear();
    s.sink->release();
    s.wait([&] { return done == 100; });
    std::vector<std::string> sizes;
    for (const auto& e : s.sink->entries)
      if (e.body.find("terminal_resize") != std::string::npos) sizes.push_back(e.call + e.body);
    const auto size = [&](int rows) {
      return R"(a{"tool":"terminal_resize","session_id":)" + std::to_string(session) +
             R"(,"rows":)" + std::to_string(rows) + R"(,"columns":132})";
    };
    CHECK(sizes == std::vector<std::string>{size(1), size(100)});
    s.begin("b", tool_arguments{stdin_arguments{session, "hello\n", hang_guard, {}}});
    s.wait_for_reports(2);
    CHECK(s.folder.read("ran") == "100 132\n");
  }

  TEST_CASE("§127 §205 a terminal keeps its size when another one cannot be recorded") {
    audited_session s;
    const auto session = s.begin_terminal("a", measuring_helper);
    s.sink->refused = {audit_kind::attempt};
    std::optional<result<void>> told;
    s.thread->send(thread_messages::resize_terminal{
        session, 50, 132, [&told](const result<void>& how) { told = how; }});
    s.wait([&] { return told.has_value(); });
    REQUIRE_FALSE(*told);
    CHECK(told->error().code == errc::io);
    CHECK(told->error().message.find("could not be recorded") != std::string::npos);
    s.sink->refused.clear();
    s.begin("b", tool_arguments{stdin_arguments{session, "hello\n", hang_guard, {}}});
    s.wait_for_reports(2);
    CHECK(s.folder.read("ran").find("50 132") == std::string::npos);
  }

  TEST_CASE("§127 §205 a terminal session was sent a signal without an entry") {
    for (const bool works : {true, false}) {
      audited_session s;
      const auto session = s.begin_terminal("a", signalled_helper);
      if (works)
        s.sink->held = {audit_kind::attempt};
      else
        s.sink->refused = {audit_kind::attempt};
      std::optional<result<void>> told;
      s.thread->send(thread_messages::signal_terminal{
          session, SIGUSR1, [&told](const result<void>& how) { told = how; }});
      if (works) {
        s.wait_until_held();
        CHECK_FALSE(s.ran());
        CHECK_FALSE(told);
        s.sink->release();
      }
      s.wait([&] { return told.has_value(); });
      if (works) {
        CHECK(*told);
        s.wait([&] { return s.ran(); });
        const auto last = std::find_if(s.sink->entries.rbegin(), s.sink->entries.rend(),
                                       [](const auto& e) { return e.kind == audit_kind::attempt; });
        REQUIRE(last != s.sink->entries.rend());
        CHECK(last->call + last->body == R"(a{"tool":"terminal_signal","session_id":)" +
                                             std::to_string(session) + R"(,"signal":10})");
      } else {
        REQUIRE_FALSE(*told);
        CHECK(told->error().code == errc::io);
        CHECK(told->error().message ==
              "the signal was not sent, since it could not be recorded: the disk is full");
        CHECK_FALSE(s.ran());
      }
    }
  }

  TEST_CASE("§42 §205 a rule is kept when it is recorded, and not without") {
    for (const bool works : {true, false}) {
      audited_session s;
      int kept = 0;
      s.terms.keep_rule = [&](const approved_rule&) -> rules_result {
        ++kept;
        return std::make_shared<const policy::rule_set>();
      };
      if (!works) s.sink->refused = {audit_kind::amendment};
      s.open_audited();
      auto wish = argv_request({"touch", "made"});
      wish.prefix_rule = {"touch", "made"};
      s.begin("a", tool_arguments{wish});
      s.wait_for_questions(1);
      REQUIRE(s.answer(s.heard->questions().front(), verdict::approved_execpolicy_amendment));
      s.wait_for_reports(1);
      if (!works) s.wait([&] { return !s.heard->warnings().empty(); });
      s.host.reset();
      CHECK(kept == (works ? 1 : 0));
      const auto kinds = s.sink->kinds();
      CHECK((std::ranges::find(kinds, "amendment") != kinds.end()) == works);
    }
  }
}
