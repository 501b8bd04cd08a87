#include "tests/actors/process_fixture.hpp"

#include <sys/resource.h>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;
using namespace std::chrono_literals;

namespace {

struct fault {
  std::string name;
  std::string script;
  bool tty = false;
  bool limited = false; ///< does not end by itself
  int exit_code = 0;
  std::string output; ///< all of it, or its beginning when it ends in '…'
  /// Never mind how it ends, only that all of it does.
  bool any_end = false;
};

const std::vector<fault> faults = {
    {"traps TERM and INT", "trap '' INT TERM; echo up; while :; do sleep 1; done", false, true, 124,
     "up\n"},
    {"setsid leaves the group", "setsid sleep 601 & echo up; exec sleep 602", false, true, 124,
     "up\n"},
    {"setsid outlives its parent", "setsid sleep 601 & echo up", false, false, 0, "up\n"},
    {"double fork", "(setsid sh -c '(trap \"\" HUP TERM; sleep 603) & exit' &) ; echo up", false,
     false, 0, "up\n"},
    {"python double fork",
     "python3 -c 'import os,time; os.fork() or (os.setsid(), os.fork() or time.sleep(604)); "
     "os.wait()' 2> /dev/null; exec sleep 605",
     false, true, 124, ""},
    {"nohup in the background", "nohup sleep 606 > /dev/null 2>&1 & echo up", false, false, 0,
     "up\n"},
    {"BR-131 coproc", "exec bash -c 'coproc tail -f /dev/null; cat <&${COPROC[0]}'", false, true,
     124, ""},
    {"BR-130 process substitution", "exec bash -c 'exec > >(cat) 2>&1; echo hi; exit 3'", false,
     false, 3, "hi\n"},
    {"a grandchild holds the pipe", "sleep 607 & echo up", false, false, 0, "up\n"},
    {"BR-139 a grandchild holds the terminal", "sleep 608 & printf done", true, false, 0, "done"},
    {"BR-157 closes its own output", "exec 1>&- 2>&-; sleep 0.2; exit 4", false, false, 4, ""},
    {"closes its terminal", "exec 0<&- 1>&- 2>&-; sleep 0.2; exit 5", true, false, 5, ""},
    {"BR-157 stops itself", "echo up; kill -STOP $$; echo never", false, true, 124, "up\n"},
    {"is stopped with its child", "sh -c 'kill -STOP $$' & echo up; wait", false, true, 124,
     "up\n"},
    {"BR-142 burns in the background", "for i in 1 2 3; do yes > /dev/null & done; echo started",
     false, false, 0, "started\n"},
    {"BR-135 asks the terminal of the daemon", "read x < /dev/tty || echo none", false, false, 0,
     "…", true},
    {"dies by a signal", "kill -9 $$", false, false, 137, ""},
};

} // namespace

TEST_SUITE("actors.process_lifecycle") {
  TEST_CASE("§99a BR-131 BR-139 BR-142 BR-157 every fault ends as it should and leaves nothing") {
    const auto descriptors = open_descriptors();
    for (const bool sandboxed : {true, false})
      for (const auto& f : faults) {
        CAPTURE(f.name);
        CAPTURE(sandboxed);
        process_stage stage{sandboxed ? workspace_write_profile() : danger_full_access_profile()};
        if (f.limited) stage.terms.process.hard_limit = 400ms;
        auto r = *stage.request(f.script, 20s, f.tty);
        if (!sandboxed) r.start.plan.backend = sandbox_backend::none;
        const auto reply =
            stage.wait(stage.ask<exec_reply_ptr>(run_v, std::make_shared<const exec_request>(r)));
        CHECK(!reply->result.session_id);
        if (!f.any_end) {
          CHECK(reply->result.exit_code == f.exit_code);
          // Under load a limit may come before the first word.
          if (!f.limited) CHECK(reply->result.output == f.output);
        }
        CHECK(stage.no_process_left()); // without waiting for the session's end
        stage.close();
        CHECK(own_children() == 0);
      }
    CHECK(open_descriptors() == descriptors);
  }

  TEST_CASE(
      "§96 BR-159 BR-160 BR-169 much output: bounded, counted to the byte, never in the way") {
    process_stage stage;
    const auto reply = stage.exec("seq 1 2000000; touch finished; exit 9", 20s);
    CHECK(reply.result.exit_code == 9);
    CHECK(std::filesystem::exists(stage.folder / "finished"));
    CHECK(reply.result.total_bytes == 14'888'896);
    CHECK(reply.result.output.size() < 1024 * 1024 + 200);
    CHECK(reply.result.output.starts_with("1\n2\n3\n"));
    CHECK(reply.result.output.ends_with("1999999\n2000000\n"));
    const auto kept = 1024 * 1024;
    CHECK(reply.result.omitted_bytes >= 14'888'896 - kept);
    CHECK(reply.result.omitted_bytes < 14'888'896 - kept + 8);
  }

  TEST_CASE("§96 no line end for 100 MB, and bytes that are no text") {
    process_stage stage;
    std::size_t deltas = 0, announced = 0, largest = 0;
    stage.terms.process.on_event = [&](const process_event& event) {
      if (const auto* said = std::get_if<process_event::output>(&event.what)) {
        ++deltas;
        announced += said->bytes.size();
        largest = std::max(largest, said->bytes.size());
      }
    };
    stage.terms.yields.most = process_hang_guard;
    const auto reply = stage.exec("head -c 100000000 /dev/zero", process_hang_guard);
    CHECK(reply.result.exit_code == 0);
    CHECK(reply.result.total_bytes == 100'000'000);
    CHECK(deltas == 10'000);
    CHECK(largest <= 8192);
    CHECK(announced <= 100'000'000);
    const auto binary = stage.exec("printf 'a\\377\\376b\\342\\202'", 20s);
    CHECK(binary.result.total_bytes == 6);
    CHECK(binary.result.output == "a\xEF\xBF\xBD\xEF\xBF\xBD"
                                  "b\xEF\xBF\xBD\xEF\xBF\xBD");
  }

  TEST_CASE("§99a BR-138 many sessions, polled or not, leave no descriptor and no child") {
    process_stage stage;
    stage.terms.limits = {4, 1};
    stage.exec("true");
    const auto descriptors = open_descriptors();
    for (int i = 0; i < 60; ++i) {
      const auto reply = stage.exec("true", 1ms, i % 2 == 0);
      if (reply.result.session_id && i % 4 < 2) {
        std::string text;
        stage.finish(*reply.result.session_id, text);
      }
    }
    CHECK(stage.loop.run_until(
        [&] {
          for (const auto& s : stage.list())
            if (s.running) return false;
          return own_children() == 0;
        },
        20s));
    CHECK(open_descriptors() <= descriptors);
    CHECK(stage.list().size() <= 4);
  }

  TEST_CASE("BR-138 no descriptor left is an error with a way out, and passes") {
    process_stage stage;
    stage.exec("true");
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit few{open_descriptors() + 2, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    const auto reply = stage.exec("true");
    setrlimit(RLIMIT_NOFILE, &before);
    REQUIRE(reply.report->failure);
    CHECK(reply.report->failure->code == errc::io);
    CHECK(stage.exec("true").result.exit_code == 0);
  }
}
