#include "tests/actors/hosted_thread.hpp"
#include "tests/actors/process_fixture.hpp"

#include <csignal>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;
using namespace gatehouse::actors::thread_messages;
using namespace std::chrono_literals;

namespace {

constexpr auto hang_guard = 60s;

/// A thread in the real boundary.
struct session {
  tests::temp_folder folder;
  thread_terms terms;
  std::shared_ptr<event_recorder> heard = std::make_shared<event_recorder>();
  std::optional<thread_host> host;
  std::optional<thread_handle> thread;
  int calls = 0;

  session() {
    terms.judgement.rules = std::make_shared<const policy::rule_set>();
    terms.judgement.search = {folder.path(), folder.path(), "/usr/bin:/bin", {}};
    terms.shell.helper = tests::built("gatehouse-sandbox");
    terms.shell.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "GH_MARK=" + mark()};
    terms.shell.context.slash_tmp_is_directory = true;
    terms.shell.end_grace = 100ms;
    terms.session.cwd = terms.session.context.cwd = folder.path();
    terms.session.context.project_roots = {folder.path()};
    terms.session.context.slash_tmp_is_directory = true;
    terms.session.approval.mode = approval_mode::on_request;
    terms.session.profile = workspace_write_profile();
    terms.session.backend = sandbox_backend::linux_bubblewrap;
    terms.session.shell = "/bin/sh";
    terms.nobody_reason = "no one";
  }
  [[nodiscard]] std::string mark() const { return std::filesystem::path{folder.path()}.filename(); }
  void open(bool answers = false) {
    host.emplace();
    thread.emplace(host->open(terms));
    thread->send(subscribe{heard, answers, {}});
  }
  void wait(const std::function<bool()>& done) {
    REQUIRE(host->loop().run_until(done, hang_guard));
  }
  using slot = std::shared_ptr<std::optional<result<call_report_ptr>>>;
  slot begin(tool_arguments arguments, std::string id = {}) {
    if (!host) open();
    auto end = std::make_shared<std::optional<result<call_report_ptr>>>();
    if (id.empty()) id = "call-" + std::to_string(++calls);
    thread->send(
        begin_call{{id, {}, std::move(arguments)},
                   [end](const result<call_report_ptr>& report) { end->emplace(report); }});
    return end;
  }
  call_report report(const slot& end) {
    wait([&] { return end->has_value(); });
    return ****end;
  }
  static terminal_request terminal(const std::string& script, std::chrono::milliseconds yield,
                                   bool tty = false) {
    terminal_request request;
    request.command.command = script;
    request.yield = yield;
    request.tty = tty;
    return request;
  }
  call_report exec(const std::string& script, std::chrono::milliseconds yield = 250ms,
                   bool tty = false) {
    return report(begin(terminal(script, yield, tty)));
  }
  call_report write(int id, std::string chars, std::chrono::milliseconds yield = 250ms) {
    return report(begin(stdin_arguments{id, std::move(chars), yield, {}}));
  }
  std::vector<process_info> list() {
    std::optional<std::vector<process_info>> told;
    thread->send(list_terminals{[&](const auto& all) { told = all; }});
    wait([&] { return told.has_value(); });
    return *told;
  }
  bool nothing_left() {
    return host->loop().run_until([&] { return process_stage::processes_of(mark()) == 0; }, 10s);
  }
};

} // namespace

TEST_SUITE("actors.thread_terminals") {
  TEST_CASE(
      "§148 §118 a thread's counting loop outlives its call; polls deliver the rest once each, "
      "the last answer has no session") {
    session s;
    auto first = s.exec("for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; exit 6");
    REQUIRE(first.session_id);
    CHECK(first.ending == call_ending::completed);
    auto text = first.output.aggregated;
    call_report last;
    for (int i = 0; i < 100; ++i) {
      last = s.write(*first.session_id, "", 5s);
      text += last.output.aggregated;
      if (!last.session_id) break;
    }
    CHECK(text == "1\n2\n3\n4\n5\n6\n");
    REQUIRE(last.attempts.size() == 1);
    CHECK(last.attempts.front().exit_code == 6);
    CHECK(s.list().empty());
    const auto gone = s.write(*first.session_id, "");
    CHECK(gone.ending == call_ending::failed);
    CHECK(gone.message.find("Unknown process id") != std::string::npos);
    const auto ended = s.heard->all<thread_events::terminal_ended>();
    REQUIRE(ended.size() == 1);
    CHECK(ended.front().call_id == "call-1");
    CHECK(ended.front().how.exit_code == 6);
    std::string streamed;
    for (const auto& delta : s.heard->all<thread_events::output_delta>()) {
      CHECK(delta.call_id == "call-1");
      streamed += delta.bytes;
    }
    CHECK(streamed == text);
    CHECK(s.nothing_left());
  }

  TEST_CASE("§204 the report of a poll tells the decision of its session's call, or none") {
    session s;
    const auto first = s.exec("sleep 1");
    REQUIRE(first.session_id);
    CHECK(first.judged);
    const auto poll = s.write(*first.session_id, "", 30s);
    CHECK(poll.judged);
    CHECK(poll.evaluation == first.evaluation);
    CHECK(poll.evaluation.requirement.kind == requirement_kind::skip);
    CHECK(poll.sandbox.backend == first.sandbox.backend);
    const auto gone = s.write(*first.session_id, "");
    CHECK(gone.ending == call_ending::failed);
    CHECK_FALSE(gone.judged);
  }

  TEST_CASE("§95 the limits of the configuration end a session in the background") {
    session s;
    s.terms.terminal_idle_limit = 1s;
    const auto silent = s.exec("echo up; exec sleep 600");
    REQUIRE(silent.session_id);
    s.wait([&] { return !s.heard->all<thread_events::terminal_ended>().empty(); });
    const auto how = s.heard->all<thread_events::terminal_ended>().front().how;
    CHECK(how.ending == attempt_ending::timed_out);
    CHECK(how.idle);
    CHECK(how.limit == 1s);
    CHECK(s.nothing_left());
  }

  TEST_CASE("BR-160 what the token limit leaves out of an output is counted") {
    session s;
    auto request = session::terminal("seq 1 100000", 30s);
    request.max_output_tokens = 1000;
    const auto report = s.report(s.begin(std::move(request)));
    CHECK(report.output.total_bytes == 588'895);
    CHECK(report.output.truncated_bytes == 588'895 - 4000);
    CHECK(report.output.aggregated.size() < 4200);
  }

  TEST_CASE("§3 §122 a command that ends before the yield is a call like any other") {
    session s;
    const auto report = s.exec("echo hi; exit 3", 30s);
    CHECK(!report.session_id);
    CHECK(report.output.aggregated == "hi\n");
    CHECK(report.attempts.back().exit_code == 3);
    CHECK(s.heard->all<thread_events::terminal_ended>().empty());
    CHECK(s.heard->all<thread_events::item_ended>().size() == 1);
  }

  TEST_CASE(
      "§127 the end of the turn leaves what has outlived its call, and ends what is waited for") {
    session s;
    const auto background = s.exec("sleep 600");
    REQUIRE(background.session_id);
    const auto waiting = s.begin(session::terminal("sleep 601", 30s), "waiting");
    s.wait([&] {
      return s.list().size() == 2 && s.heard->all<thread_events::attempt_began>().size() == 2;
    });
    const auto polling = s.begin(stdin_arguments{*background.session_id, "", 300s, {}}, "polling");
    s.wait([&] { return !s.heard->all<thread_events::terminal_interaction>().empty(); });
    s.thread->send(end_turn{{}, thread_events::turn_ending::interrupted, "stop"});
    CHECK(s.report(waiting).attempts.back().ending == attempt_ending::cancelled);
    CHECK(s.report(polling).session_id == background.session_id);
    const auto left = s.list();
    REQUIRE(left.size() == 1);
    CHECK(left.front().session_id == *background.session_id);
    CHECK(left.front().running);
    // The next turn goes on with it.
    CHECK(s.write(*background.session_id, "\x03", 20s).attempts.back().signal == SIGINT);
    CHECK(s.nothing_left());
  }

  TEST_CASE(
      "§127 sessions of a thread are listed, read, signalled, resized, ended one by one or all") {
    session s;
    const auto said =
        s.exec("trap 'stty size' WINCH; echo up; while :; do sleep 0.05; done", 250ms, true);
    const auto two = s.exec("sleep 600");
    const auto three = s.exec("sleep 600");
    const auto four = s.exec("sleep 600");
    REQUIRE((said.session_id && two.session_id && three.session_id && four.session_id));
    CHECK(s.list().size() == 4);
    std::optional<bool> found;
    const auto ask = [&](thread_message message) {
      found.reset();
      s.thread->send(std::move(message));
      s.wait([&] { return found.has_value(); });
      return *found;
    };
    const auto tell = [&](bool yes) { found = yes; };
    const auto tell_how = [&](const result<void>& how) { found = how.has_value(); };
    CHECK(ask(resize_terminal{*said.session_id, 50, 132, tell_how}));
    CHECK(!ask(resize_terminal{4711, 50, 132, tell_how}));
    std::string text;
    s.wait([&] {
      s.thread->send(read_terminal{*said.session_id, [&](const auto& t) { text = t.text; }});
      return text.find("50 132") != std::string::npos;
    });
    CHECK(ask(signal_terminal{*two.session_id, SIGTERM, tell_how}));
    CHECK(ask(end_terminal{*three.session_id, tell}));
    CHECK(!ask(end_terminal{*three.session_id, tell}));
    CHECK(!ask(signal_terminal{4711, SIGTERM, tell_how}));
    CHECK(s.write(*two.session_id, "", 20s).attempts.back().signal == SIGTERM);
    std::optional<int> ended;
    s.thread->send(clean_terminals{[&](int n) { ended = n; }});
    s.wait([&] { return ended.has_value(); });
    CHECK(*ended == 2);
    s.wait([&] { return s.list().empty(); });
    CHECK(s.nothing_left());
  }

  TEST_CASE("§127 a person types into a session at once, and reads on without a gap") {
    session s;
    const auto said = s.exec("read a; echo \"got $a\"; sleep 600", 250ms, true);
    const auto pipes = s.exec("sleep 600");
    REQUIRE((said.session_id && pipes.session_id));
    // A poll of the agent that waits does not hold up the person.
    const auto poll = s.begin(stdin_arguments{*said.session_id, "", 20s, {}});
    const auto type = [&](int id, std::string chars) {
      std::optional<result<void>> told;
      s.thread->send(
          write_terminal{id, std::move(chars), [&](const result<void>& how) { told = how; }});
      s.wait([&] { return told.has_value(); });
      return *told;
    };
    CHECK(type(*said.session_id, "yes\n"));
    std::string text;
    std::int64_t at = 0;
    s.wait([&] {
      std::optional<process_transcript> piece;
      s.thread->send(read_terminal{*said.session_id, [&](const auto& t) { piece = t; }, at});
      s.wait([&] { return piece.has_value(); });
      CHECK(piece->from == static_cast<std::uint64_t>(at));
      text += piece->text;
      at = static_cast<std::int64_t>(piece->next);
      return text.find("got yes") != std::string::npos;
    });
    CHECK(text == "yes\r\ngot yes\r\n");
    CHECK(type(*pipes.session_id, "x").error().message.find("no terminal") != std::string::npos);
    CHECK(type(4711, "x").error().code == errc::not_found);
    s.thread->send(cancel_call{"call-3"});
    (void)s.report(poll);
    s.thread->send(clean_terminals{{}});
    CHECK(s.nothing_left());
  }

  TEST_CASE("§99a a thread that is closed takes its sessions with it") {
    session s;
    REQUIRE(s.exec("trap '' TERM INT; sleep 600 & sleep 600").session_id);
    REQUIRE(process_stage::processes_of(s.mark()) > 0);
    bool closed = false;
    s.thread->send(close_thread{[&] { closed = true; }});
    s.wait([&] { return closed; });
    CHECK(s.nothing_left());
  }

  TEST_CASE("§6 §14 a session is judged and asked about like every command") {
    session s;
    const auto refused = s.exec("rm -rf /", 250ms);
    CHECK(refused.ending == call_ending::refused);
    CHECK(refused.attempts.empty());
    CHECK(!refused.session_id);
    CHECK(s.list().empty());
  }

  TEST_CASE("§123 a write to a session outside of the sandbox is a question of its own, and a turn "
            "that is stopped takes it back") {
    session s;
    s.open(true);
    auto request = session::terminal("cat", 250ms, true);
    request.command.sandbox_permissions = sandbox_permissions::require_escalated;
    request.command.justification = "a test";
    const auto started = s.begin(std::move(request));
    const auto answer = [&](std::size_t question, review_decision decision) {
      s.wait([&] { return s.heard->questions().size() > question; });
      const auto q = s.heard->questions()[question];
      s.thread->send(answer_review{q.review_id, q.digest, decision, {}, {}});
    };
    answer(0, review_decision::approved);
    const auto running = s.report(started);
    REQUIRE(running.session_id);
    const auto no = s.begin(stdin_arguments{*running.session_id, "no\n", 250ms, {}});
    answer(1, review_decision::denied);
    CHECK(s.report(no).ending == call_ending::refused);
    const auto withdrawn = s.begin(stdin_arguments{*running.session_id, "gone\n", 250ms, {}});
    s.wait([&] { return s.heard->questions().size() == 3; });
    s.thread->send(end_turn{{}, thread_events::turn_ending::interrupted, "stop"});
    CHECK(s.report(withdrawn).ending == call_ending::aborted);
    const auto yes = s.begin(stdin_arguments{*running.session_id, "yes\n", 2s, {}});
    answer(3, review_decision::approved);
    CHECK(s.report(yes).output.aggregated.find("yes") != std::string::npos);
    std::string text;
    s.thread->send(read_terminal{*running.session_id, [&](const auto& t) { text = t.text; }});
    s.wait([&] { return !text.empty(); });
    CHECK(text.find("no\r") == std::string::npos);
    CHECK(text.find("gone") == std::string::npos);
  }
}
