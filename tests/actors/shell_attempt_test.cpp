#include "tests/actors/hosted_thread.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;
using namespace std::chrono_literals;

namespace {

/// A thread whose helper is a script: what it writes to descriptor 3 is the report.
struct scripted_host : scripted_terms {
  std::shared_ptr<event_recorder> listener = std::make_shared<event_recorder>();

  explicit scripted_host(const std::string& script) : scripted_terms{script} {
    terms.session.approval.mode = approval_mode::never;
  }

  call_report run(std::vector<std::string> argv = {"make"},
                  std::optional<std::chrono::milliseconds> timeout = {}) {
    auto request = argv_request(std::move(argv));
    request.timeout = timeout;
    return scripted_terms::run(std::move(request), listener);
  }
};

constexpr auto started = R"(echo '{"event":"started"}' >&3
)";
std::string exited_with(int code) {
  return R"(echo '{"event":"exited","exit_code":)" + std::to_string(code) + R"(}' >&3
exit )" + std::to_string(code);
}

const attempt_record& only(const call_report& report) {
  REQUIRE(report.attempts.size() == 1);
  return report.attempts.front();
}

} // namespace

TEST_SUITE("actors.shell_attempt") {
  TEST_CASE("§94 a plain end is the command's own, with its output apart and in order") {
    scripted_host host{started + std::string{"echo out; echo err >&2\n"} + exited_with(3)};
    const auto report = host.run();
    CHECK(only(report).ending == attempt_ending::exited);
    CHECK(only(report).exit_code == 3);
    CHECK(report.output.stdout_text == "out\n");
    CHECK(report.output.stderr_text == "err\n");
    CHECK(exit_status(report) == 3);
  }

  TEST_CASE("§97 the report decides, not the helper's own status") {
    scripted_host host{started + std::string{R"(echo '{"event":"signalled","signal":11}' >&3
exit 139)"}};
    const auto report = host.run();
    CHECK(only(report).ending == attempt_ending::signalled);
    CHECK(exit_status(report) == 139);
  }

  TEST_CASE("§D10 §98 words alone make no denial, an observed refusal does") {
    scripted_host words{started + std::string{"echo sandbox\n"} + exited_with(1)};
    CHECK(only(words.run()).ending == attempt_ending::exited);

    scripted_host seen{
        started +
        std::string{
            R"(echo '{"event":"blocked","kind":"file_write","path":"/etc/x","entry":"no entry"}' >&3
)"} + exited_with(1)};
    const auto report = seen.run();
    CHECK(only(report).ending == attempt_ending::denied);
    CHECK(only(report).denied->path == "/etc/x");
    CHECK(report.ending == call_ending::completed);
  }

  TEST_CASE("§97 a time-out that printed \"permission denied\" is a time-out") {
    scripted_host host{started + std::string{"echo permission denied; exec sleep 600"}};
    const auto report = host.run({"make"}, 50ms);
    CHECK(only(report).ending == attempt_ending::timed_out);
    CHECK_FALSE(only(report).denied);
    CHECK(exit_status(report) == 124);
  }

  TEST_CASE("BR-131 BR-157 a time-out says so, its limit, and that the command stood still") {
    scripted_host late{started + std::string{"exec sleep 600"}};
    const auto moving = late.run({"make"}, 50ms);
    CHECK(moving.message.find("the time limit of 50 ms") != std::string::npos);
    CHECK(moving.message.find("124") != std::string::npos);
    CHECK(moving.message.find("stood still") == std::string::npos);
    CHECK_FALSE(only(moving).stopped);
    const std::string stop = R"(echo '{"event":"stopped","signal":19}' >&3
)";
    scripted_host stopped{started + stop + "exec sleep 600"};
    const auto still = stopped.run({"make"}, 1s);
    CHECK(only(still).stopped);
    CHECK(still.message.find("stood still") != std::string::npos);
    scripted_host again{started + stop + R"(echo '{"event":"continued"}' >&3
exec sleep 600)"};
    CHECK_FALSE(only(again.run({"make"}, 1s)).stopped);
  }

  TEST_CASE("§99a a helper that ignores the request to end is killed after the grace") {
    scripted_host host{started + std::string{"trap '' TERM; while :; do sleep 600; done"}};
    CHECK(exit_status(host.run({"make"}, 50ms)) == 124);
  }

  TEST_CASE("§97 a helper that was killed before its command began ended the call without a word") {
    scripted_host host{"kill -9 $$"};
    const auto report = host.run();
    CHECK(only(report).ending == attempt_ending::lost);
    CHECK(exit_status(report) == 137);
    CHECK(report.message ==
          "What became of the command is not known: the sandbox helper was ended from outside by "
          "signal 9 before it had told that the command began.\n"
          "Next: look at what it may have left before you run it again.");
  }

  TEST_CASE("§97 a helper that was killed while its command ran ended the call without a word") {
    scripted_host host{started + std::string{"kill -9 $$"}};
    const auto report = host.run();
    CHECK(only(report).ending == attempt_ending::signalled);
    CHECK(exit_status(report) == 137);
    CHECK(report.message == "The command was killed: the sandbox helper was ended from outside by "
                            "signal 9 while the command ran, which ended with it.\n"
                            "Next: look at what it left before you run it again.");
  }

  TEST_CASE("§97 a boundary that was ended before its command had begun may have run it") {
    const std::string killed =
        R"(echo '{"event":"killed","message":"it was ended","remedy":"look"}' >&3
exit 137)";
    scripted_host before{killed};
    const auto lost = before.run();
    CHECK(only(lost).ending == attempt_ending::lost);
    CHECK(lost.message == "What became of the command is not known: it was ended.\nNext: look.");
    scripted_host after{started + killed};
    const auto cut = after.run();
    CHECK(only(cut).ending == attempt_ending::signalled);
    CHECK(cut.message == "The command was killed: it was ended.\nNext: look.");
    CHECK(exit_status(cut) == 137);
  }

  TEST_CASE("§68 a boundary that cannot be built means that nothing ran") {
    scripted_host host{
        R"(echo '{"event":"boundary_failed","message":"no bubblewrap","remedy":"apt-get install bubblewrap"}' >&3
exit 121)"};
    const auto report = host.run();
    CHECK(report.ending == call_ending::failed);
    CHECK(exit_status(report) == 121);
    CHECK(report.message.find("apt-get install bubblewrap") != std::string::npos);
  }

  TEST_CASE("§68 a helper that dies without a report, or is missing, is never a success") {
    scripted_host silent{"exit 0"};
    CHECK(exit_status(silent.run()) == 121);
    scripted_host garbled{"echo '{\"event\":\"exited\"' >&3; exit 0"};
    CHECK(exit_status(garbled.run()) == 121);
    scripted_host missing{"exit 0"};
    missing.terms.shell.helper += "-not";
    CHECK(exit_status(missing.run()) == 121);
  }

  TEST_CASE("§99 a program that cannot be executed is 127 or 126") {
    scripted_host host{
        R"(echo '{"event":"exec_failed","errno":2,"message":"x: not found"}' >&3
exit 127)"};
    CHECK(exit_status(host.run()) == 127);
  }

  TEST_CASE("§96 output beyond the cap is counted, and all of it is passed on to a listener") {
    scripted_host host{started + std::string{"head -c 300000 /dev/zero\n"} + exited_with(0)};
    host.terms.shell.capture.bytes = 1000;
    const auto report = host.run();
    std::size_t heard = 0;
    for (const auto& delta : host.listener->all<thread_events::output_delta>())
      heard += delta.bytes.size();
    CHECK(heard == 300000);
    CHECK(report.output.stdout_text.size() < 2000);
    CHECK(report.output.truncated_bytes > 290000);
  }

  TEST_CASE("§93 the helper is told exactly what the attempt says") {
    scripted_host host{R"(printf '%s\n' "$@"
echo '{"event":"exited","exit_code":0}' >&3)"};
    const auto report = host.run({"make", "a b"});
    const auto& told = report.output.stdout_text;
    CHECK(told.find("--command-cwd\n" + host.folder.path() + "\n") != std::string::npos);
    CHECK(told.find("--workspace-root\n" + host.folder.path() + "\n") != std::string::npos);
    CHECK(told.ends_with("--\nmake\na b\n"));
  }
}
