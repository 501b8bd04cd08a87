#include "tests/actors/process_fixture.hpp"

#include <csignal>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;
using namespace std::chrono_literals;

namespace {

std::string numbers(int last) {
  std::string text;
  for (int i = 1; i <= last; ++i)
    text += std::to_string(i) + "\n";
  return text;
}

} // namespace

TEST_SUITE("actors.process_manager") {
  TEST_CASE("§148 BR-166 a counting loop with a short yield: a session id, polls deliver the rest "
            "once each, the last answer has no id, the store is clean") {
    process_stage stage;
    const auto first =
        stage.exec("for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done; exit 6", 250ms);
    REQUIRE(!first.failure);
    REQUIRE(first.result.session_id);
    CHECK(*first.result.session_id == 1000);
    CHECK(!first.result.exit_code);
    CHECK(stage.list().size() == 1);
    auto text = first.result.output;
    const auto last = stage.finish(1000, text);
    CHECK(text == numbers(10));
    CHECK(last.result.exit_code == 6);
    CHECK(!last.result.session_id);
    CHECK(stage.list().empty());
    const auto gone = stage.write(1000, "");
    REQUIRE(gone.failure);
    CHECK(gone.failure->message.find("Unknown process id 1000") != std::string::npos);
    CHECK(stage.no_process_left());
  }

  TEST_CASE("§122 BR-153 a process that ends before the yield is answered at once, with its code") {
    process_stage stage;
    for (const auto& [script, code] :
         {std::pair{"sleep 0.1", 0}, std::pair{"printf x; sleep 0.1", 0},
          std::pair{"sleep 0.1; exit 7", 7}}) {
      const auto reply = stage.exec(script, 30s);
      CHECK(reply.result.exit_code == code);
      CHECK(!reply.result.session_id);
      CHECK(reply.result.wall < 20s);
    }
    CHECK(stage.list().empty());
  }

  TEST_CASE("§119 a pipe has no standard input: only Ctrl-C gets through") {
    process_stage stage;
    const auto started = stage.exec("cat; echo end of input; exec sleep 600", 1ms);
    REQUIRE(started.result.session_id);
    const int id = *started.result.session_id;
    const auto refused = stage.write(id, "hello\n");
    REQUIRE(refused.failure);
    CHECK(refused.failure->message.starts_with("StdinClosed"));
    CHECK(stage.write(id, "\x03\x03").failure);
    // A shell goes on after a Ctrl-C that reaches it while its command ends by itself.
    REQUIRE(stage.heard(id, "end of input"));
    const auto stopped = stage.write(id, "\x03", 20s);
    CHECK(stopped.result.exit_code == 130);
    CHECK(stage.list().empty());
  }

  TEST_CASE(
      "§119 a terminal has a size, is the controlling one, echoes, and takes Ctrl-C as a key") {
    process_stage stage;
    const auto started =
        stage.exec("stty size; tty > /dev/null && echo terminal; cat < /dev/tty", 1ms, true);
    REQUIRE(started.result.session_id);
    const int id = *started.result.session_id;
    auto text = started.result.output;
    for (int i = 0; i < 100 && text.find("terminal") == std::string::npos; ++i)
      text += stage.write(id, "", 100ms).result.output;
    CHECK(text == "24 80\r\nterminal\r\n");
    text.clear();
    for (text = stage.write(id, "hello\n", 1ms).result.output;
         text.find("hello\r\nhello\r\n") == std::string::npos;)
      text += stage.write(id, "", 100ms).result.output;
    const auto stopped = stage.write(id, "\x03", 20s);
    CHECK(stopped.result.exit_code == 130);
  }

  TEST_CASE("§119 a resize reaches the program") {
    process_stage stage;
    const auto started = stage.exec(
        "trap 'stty size; exit 4' WINCH; echo up; while :; do sleep 0.05; done", 1ms, true);
    REQUIRE(started.result.session_id);
    REQUIRE(stage.heard(1000, "up"));
    CHECK(stage.wait(stage.ask<bool>(resize_v, 1000, 50, 132)));
    std::string text = started.result.output;
    CHECK(stage.finish(1000, text).result.exit_code == 4);
    CHECK(text == "up\r\n50 132\r\n");
  }

  TEST_CASE("§125 a poll is an interaction only while the process lives; §96 deltas tell it all") {
    process_stage stage;
    std::vector<std::string> seen;
    std::string deltas;
    stage.terms.process.on_event = [&](const process_event& event) {
      if (const auto* said = std::get_if<process_event::output>(&event.what)) deltas += said->bytes;
      if (const auto* acted = std::get_if<process_event::interaction>(&event.what))
        seen.push_back("i:" + acted->chars);
      if (const auto* ended = std::get_if<process_event::ended>(&event.what))
        seen.push_back("ended:" + ended->transcript);
    };
    const auto started = stage.exec("echo one; sleep 2; echo two", 1ms);
    REQUIRE(started.result.session_id);
    stage.write(1000, "", 1ms);
    while (stage.list().front().running)
      stage.loop.run_until([] { return false; }, 10ms);
    CHECK(stage.write(1000, "", 1ms).result.exit_code == 0);
    CHECK(seen == std::vector<std::string>{"i:", "ended:one\ntwo\n"});
    CHECK(deltas == "one\ntwo\n");
  }

  TEST_CASE("§9 an id is free again on every path that fails") {
    process_stage stage;
    stage.terms.limits = {2, 0};
    auto bad_folder = *stage.request("true", 20s);
    bad_folder.start.plan.what.cwd = stage.folder.path() + "/missing";
    auto refused = *stage.request("true", 20s);
    refused.start.handler_refusal = exec_requirement{};
    refused.start.handler_refusal->kind = requirement_kind::forbidden;
    auto unknown = *stage.request("true", 20s);
    unknown.start.plan.what.argv = {"no-such-program"};
    for (const auto& r : {bad_folder, refused, unknown}) {
      const auto reply =
          stage.wait(stage.ask<exec_reply_ptr>(run_v, std::make_shared<const exec_request>(r)));
      CHECK(!reply->result.session_id);
      CHECK(reply->report);
      CHECK(stage.list().empty());
    }
    stage.terms.process.host.helper = "/nonexistent/helper";
    stage.close();
    const auto lost = stage.exec("true");
    CHECK(lost.report->ending == call_ending::failed);
    CHECK(stage.list().empty());
  }

  TEST_CASE("§126 the oldest session makes room, and its process ends") {
    process_stage stage;
    stage.terms.limits = {2, 1};
    for (int i = 0; i < 4; ++i)
      REQUIRE(stage.exec("exec sleep 600", 1ms).result.session_id == 1000 + i);
    const auto sessions = stage.list();
    REQUIRE(sessions.size() == 2);
    CHECK(sessions[0].session_id == 1002);
    CHECK(sessions[1].session_id == 1003);
    CHECK(stage.write(1000, "").failure);
    const auto alive = [&] { return process_stage::processes_of(stage.mark()); };
    const auto two = [&] {
      std::size_t sleeps = 0;
      for (const auto& s : stage.list())
        sleeps += s.running;
      return sleeps == 2;
    };
    CHECK(two());
    CHECK(alive() > 0);
    stage.close();
    CHECK(stage.no_process_left());
  }

  TEST_CASE("§127 sessions are listed, read, signalled, ended one by one or all") {
    process_stage stage;
    REQUIRE(stage.exec("echo first; exec sleep 600", 1ms).result.session_id);
    CHECK(stage.heard(1000, "first\n"));
    REQUIRE(
        stage.exec("trap 'echo got it; exit 9' USR1; echo ready; while :; do sleep 0.05; done", 1ms)
            .result.session_id);
    CHECK(stage.heard(1001, "ready\n"));
    REQUIRE(stage.exec("exec sleep 601", 1ms).result.session_id);
    const auto all = stage.list();
    REQUIRE(all.size() == 3);
    CHECK(all[0].argv.back() == "echo first; exec sleep 600");
    CHECK(all[0].background);
    CHECK(all[0].running);
    CHECK(all[0].sandboxed);
    CHECK(!stage.wait(stage.ask<process_transcript_ptr>(read_v, 4711, whole_transcript))->known);
    CHECK(stage.wait(stage.ask<bool>(signal_v, 1001, SIGUSR1)));
    std::string rest;
    CHECK(stage.finish(1001, rest).result.exit_code == 9);
    CHECK(rest.find("got it\n") != std::string::npos);
    CHECK(stage.wait(stage.ask<bool>(end_v, 1000)));
    CHECK(!stage.wait(stage.ask<bool>(end_v, 1000)));
    CHECK(stage.list().size() == 1);
    CHECK(stage.wait(stage.ask<int>(end_v)) == 1);
    CHECK(stage.loop.run_until([&] { return stage.list().empty(); }, 10s));
    CHECK(stage.no_process_left());
  }

  TEST_CASE(
      "§121 §127 BR-134 a call that is stopped while it waits takes its process with it, and no "
      "other") {
    process_stage stage;
    REQUIRE(stage.exec("exec sleep 600", 1ms).result.session_id == 1000);
    const auto waiting =
        stage.ask<exec_reply_ptr>(run_v, stage.request("echo up; exec sleep 600", 30s));
    REQUIRE(stage.loop.run_until([&] { return stage.list().size() == 2; }, 10s));
    caf::anon_send(stage.manager, cancel_v, std::string{"call-2"});
    const auto reply = stage.wait(waiting);
    CHECK(reply->report->ending == call_ending::aborted);
    CHECK(!reply->result.session_id);
    const auto left = stage.list();
    REQUIRE(left.size() == 1);
    CHECK(left.front().session_id == 1000);
    CHECK(left.front().running);
  }

  TEST_CASE("§97 a session stopped while its boundary was being set up is called a failure") {
    process_stage stage;
    const auto slow = stage.folder.write(
        "slow-helper", "#!/bin/sh\ntrap 'exit 1' INT TERM\nwhile :; do sleep 0.05; done\n");
    std::filesystem::permissions(slow, std::filesystem::perms::owner_all);
    stage.terms.process.host.helper = slow;
    const auto waiting = stage.ask<exec_reply_ptr>(run_v, stage.request("echo up", 30s));
    REQUIRE(stage.loop.run_until([&] { return stage.list().size() == 1; }, 10s));
    caf::anon_send(stage.manager, cancel_v, std::string{"call-1"});
    const auto reply = stage.wait(waiting);
    CHECK(reply->report->ending == call_ending::aborted);
    CHECK(!reply->report->failure);
    CHECK(stage.no_process_left());
  }

  TEST_CASE("§95 the hard limit holds in the background, and wins over what the kill does") {
    process_stage stage;
    stage.terms.process.hard_limit = 2s;
    const auto started = stage.exec("trap '' INT TERM; echo up; while :; do sleep 1; done", 1ms);
    REQUIRE(started.result.session_id);
    auto text = started.result.output;
    const auto last = stage.finish(1000, text);
    CHECK(last.result.exit_code == 124);
    CHECK(last.ended->ending == attempt_ending::timed_out);
    CHECK(text == "up\n");
    CHECK(last.message.find("the time limit of 2000 ms") != std::string::npos);
    CHECK(last.message.find("stood still") == std::string::npos);
    CHECK(stage.no_process_left());
  }

  TEST_CASE("§95 BR-151 the idle limit ends only a process that says nothing") {
    process_stage stage;
    stage.terms.process.idle_limit = 2s;
    const auto busy = stage.exec("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.4; done", 30s);
    CHECK(busy.result.exit_code == 0);
    const auto silent = stage.exec("echo up; exec sleep 600", 20s);
    CHECK(silent.result.exit_code == 124);
    CHECK(silent.result.output == "up\n");
    CHECK(silent.message.find("2000 ms without output or input") != std::string::npos);
  }

  TEST_CASE(
      "BR-157 a session that stands still at its limit is reported as stopped, in both faces") {
    process_stage stage;
    stage.terms.process.hard_limit = 2s;
    const auto reply = stage.exec("echo up; kill -STOP $$; echo never", 30s);
    CHECK(reply.result.exit_code == 124);
    CHECK(reply.result.output == "up\n");
    CHECK(reply.message.find("the time limit of 2000 ms") != std::string::npos);
    CHECK(reply.message.find("stood still") != std::string::npos);
    const auto started = stage.exec("kill -STOP $$", 1ms);
    REQUIRE(started.result.session_id);
    std::string text;
    const auto last = stage.finish(*started.result.session_id, text);
    CHECK(last.result.exit_code == 124);
    CHECK(last.message.find("stood still") != std::string::npos);
    CHECK(stage.no_process_left());
  }

  TEST_CASE("§127 a session that has stopped itself goes on when it is told to") {
    process_stage stage;
    const auto started = stage.exec("echo up; kill -STOP $$; echo on; exit 5", 1ms);
    REQUIRE(started.result.session_id);
    REQUIRE(stage.heard(1000, "up"));
    auto text = started.result.output;
    exec_reply last;
    // It may be told before it has stopped.
    for (int i = 0; i < 100; ++i) {
      CHECK(stage.wait(stage.ask<bool>(signal_v, 1000, SIGCONT)));
      last = stage.write(1000, "", 100ms);
      text += last.result.output;
      if (!last.result.session_id) break;
    }
    CHECK(last.result.exit_code == 5);
    CHECK(text == "up\non\n");
  }

  TEST_CASE("§123 every poll that waits for the same end hears of it, and the output comes once") {
    process_stage stage;
    const auto started = stage.exec("sleep 0.5; echo bye; exit 3", 1ms);
    REQUIRE(started.result.session_id);
    std::vector<std::shared_ptr<std::optional<exec_reply_ptr>>> polls;
    for (int i = 0; i < 3; ++i) {
      stdin_request poll;
      poll.call_id = "poll-" + std::to_string(i);
      poll.session_id = 1000;
      poll.yield = 30s;
      polls.push_back(
          stage.ask<exec_reply_ptr>(run_v, std::make_shared<const stdin_request>(std::move(poll))));
    }
    auto text = started.result.output;
    for (const auto& poll : polls) {
      const auto reply = stage.wait(poll);
      CHECK(!reply->failure);
      CHECK(!reply->result.session_id);
      CHECK(reply->result.exit_code == 3);
      text += reply->result.output;
    }
    CHECK(text == "bye\n");
    CHECK(stage.list().empty());
  }

  TEST_CASE("BR-130 what the writer behind a redirection still holds is shown; what goes on for "
            "ever keeps nobody") {
    for (const bool sandboxed : {true, false}) {
      CAPTURE(sandboxed);
      process_stage stage{sandboxed ? workspace_write_profile() : danger_full_access_profile()};
      const auto exec = [&](const std::string& script) {
        auto r = *stage.request(script, 20s);
        if (!sandboxed) r.start.plan.backend = sandbox_backend::none;
        return stage.wait(
            stage.ask<exec_reply_ptr>(run_v, std::make_shared<const exec_request>(r)));
      };
      for (int i = 0; i < 5; ++i) {
        const auto reply = exec("exec bash -c 'exec > >(tee -a log) 2>&1; echo hi; exit 3'");
        CHECK(reply->result.exit_code == 3);
        CHECK(reply->result.output == "hi\n");
      }
      const auto left = exec("sleep 300 & echo done");
      CHECK(left->result.exit_code == 0);
      CHECK(left->result.output == "done\n");
      CHECK(left->result.wall < 10s);
      CHECK(stage.no_process_left());
    }
  }

  TEST_CASE("§98 what the boundary refuses is said, in the first wait and later") {
    process_stage stage;
    const auto now = stage.exec("echo x > /etc/gatehouse-probe", 20s);
    REQUIRE(now.ended);
    CHECK(now.ended->ending == attempt_ending::denied);
    CHECK(now.message.find("/etc/gatehouse-probe") != std::string::npos);
    const auto started = stage.exec("sleep 0.3; echo x > /etc/gatehouse-probe", 1ms);
    REQUIRE(started.result.session_id);
    std::string text;
    const auto later = stage.finish(*started.result.session_id, text);
    CHECK(later.ended->ending == attempt_ending::denied);
    CHECK(later.message.find("/etc/gatehouse-probe") != std::string::npos);
  }
}
