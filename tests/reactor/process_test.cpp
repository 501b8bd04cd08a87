#include "tests/reactor/process_fixture.hpp"

#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace gatehouse::reactor::test;
using namespace std::chrono_literals;

TEST_SUITE("reactor.process") {
  TEST_CASE("§94 a child's streams, exit code and signal arrive, the end last") {
    event_loop loop;
    auto r = start(loop, shell("echo out; echo err >&2; exit 7"));
    REQUIRE(finish(loop, *r));
    CHECK(r->out == "out\n");
    CHECK(r->err == "err\n");
    CHECK(r->exit->code == 7);
    CHECK(r->order.back() == 'E');
    CHECK_FALSE(r->end->drain_cut);

    auto killed = start(loop, shell("kill -9 $$"));
    REQUIRE(finish(loop, *killed));
    CHECK(killed->exit->signal == SIGKILL);
    CHECK_FALSE(killed->exit->code);
  }

  TEST_CASE(
      "§96 a grandchild that holds the pipe does not hang the call, and nothing read is lost") {
    event_loop loop;
    auto r = start(loop, shell("echo kept; sleep 300 & exit 0"), {.drain = 50ms});
    REQUIRE(finish(loop, *r));
    CHECK(r->out == "kept\n");
    CHECK(r->end->drain_cut);
  }

  TEST_CASE("§99a what the child leaves behind in its group dies with it") {
    event_loop loop;
    auto r = start(loop, shell("sleep 300 >/dev/null 2>&1 & echo $!"));
    REQUIRE(finish(loop, *r));
    const auto sleeper = static_cast<pid_t>(std::stol(r->out));
    CHECK(loop.run_until([&] { return !is_running(sleeper); }, hang_guard));
  }

  TEST_CASE("terminate gives the child its grace, then kills the whole tree") {
    event_loop loop;
    auto polite = start(loop, shell("trap 'echo term; exit 5' TERM; echo ready; sleep 300 & wait"));
    REQUIRE(loop.run_until([&] { return polite->out == "ready\n"; }, hang_guard));
    polite->child->terminate(30s);
    REQUIRE(finish(loop, *polite));
    CHECK(polite->out == "ready\nterm\n");
    CHECK(polite->exit->code == 5);

    const auto time = std::make_shared<manual_clock>();
    event_loop slow{time};
    auto deaf = start(slow, shell("trap '' TERM; echo ready; while :; do sleep 1; done"));
    REQUIRE(slow.run_until([&] { return deaf->out == "ready\n"; }, hang_guard));
    deaf->child->terminate(5s);
    time->advance(4s);
    CHECK_FALSE(deaf->exit);
    time->advance(1s);
    REQUIRE(finish(slow, *deaf));
    CHECK(deaf->exit->signal == SIGKILL);
  }

  TEST_CASE("a process object that goes away takes its child with it") {
    event_loop loop;
    auto r = start(loop, shell("echo ready; sleep 300"));
    REQUIRE(loop.run_until([&] { return r->out == "ready\n"; }, hang_guard));
    const auto pid = r->child->pid();
    r->child = nullptr;
    CHECK(loop.run_until([&] { return !is_running(pid); }, hang_guard));
  }

  TEST_CASE(
      "output is paced by credit: a consumer that takes nothing holds one read, not megabytes") {
    event_loop loop;
    auto r = start(loop, shell("head -c 10000000 /dev/zero"));
    r->auto_grant = false;
    REQUIRE(loop.run_until([&] { return !r->out.empty(); }, hang_guard));
    loop.run_until([] { return false; }, 50ms);
    CHECK(r->out.size() <= 16 * 1024);
    CHECK_FALSE(r->exit);
    r->auto_grant = true;
    r->child->grant(output_stream::standard_output);
    REQUIRE(finish(loop, *r));
    CHECK(r->out.size() == 10'000'000);
  }

  TEST_CASE("a program that cannot be started is an error with its reason, never a silent exit") {
    event_loop loop;
    spawn_request request;
    const auto code_of = [&] {
      auto child = process::spawn(loop, request, {});
      return child ? errc::internal : child.error().code;
    };
    CHECK(code_of() == errc::invalid_request);
    request.argv = {"/nonexistent/program"};
    CHECK(code_of() == errc::not_found);
    request.argv = {"/etc/passwd"};
    CHECK(code_of() == errc::spawn_failed);
    request.argv = {"/bin/true"};
    request.cwd = "/nonexistent";
    CHECK(code_of() == errc::invalid_request);
    request.cwd.clear();
    request.argv = {"true", std::string(200'000, 'x')};
    request.env = {"PATH=/bin"};
    CHECK(code_of() == errc::too_large);
  }

  TEST_CASE("a bare name is looked up in the call's PATH, never in the working folder") {
    event_loop loop;
    spawn_request request;
    request.argv = {"true"};
    request.env = {"PATH=:.:bin"};
    request.cwd = "/bin";
    CHECK_FALSE(process::spawn(loop, request, {}));
  }

  TEST_CASE("the child gets no descriptor of ours but those it is passed") {
    event_loop loop;
    const int secret = ::open("/dev/null", O_RDONLY); // deliberately inheritable
    auto request = shell("ls /proc/self/fd | tr '\\n' ' '; cat <&7");
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    REQUIRE(::write(pipe_ends[1], "passed", 6) == 6);
    ::close(pipe_ends[1]);
    request.pass_fds = {{pipe_ends[0], 7}};
    auto r = start(loop, request);
    ::close(pipe_ends[0]);
    REQUIRE(finish(loop, *r));
    CHECK(r->out == "0 1 2 3 7 passed"); // 3 is the folder that ls reads
    ::close(secret);
  }

  TEST_CASE("two hundred children at once leave no descriptor and no zombie") {
    event_loop loop;
    { REQUIRE(finish(loop, *start(loop, shell("exit 0")))); }
    const auto before = open_descriptors();
    {
      std::vector<std::unique_ptr<recorded>> all;
      for (int i = 0; i < 200; ++i)
        all.push_back(start(loop, shell("echo " + std::to_string(i))));
      for (auto& r : all)
        REQUIRE(finish(loop, *r));
      for (std::size_t i = 0; i < all.size(); ++i)
        CHECK(all[i]->out == std::to_string(i) + "\n");
    }
    loop.poll();
    CHECK(open_descriptors() == before);
  }

  TEST_CASE("standard input is written with back-pressure and closed after what is queued") {
    event_loop loop;
    auto request = shell("wc -c");
    request.input = stdin_mode::pipe;
    auto r = start(loop, request, {.pending_input = 300'000});
    REQUIRE(r->child);
    CHECK(r->child->write_stdin(std::string(250'000, 'x')));
    CHECK_FALSE(r->child->write_stdin(std::string(100'000, 'x')));
    r->child->close_stdin();
    CHECK_FALSE(r->child->write_stdin("more"));
    REQUIRE(finish(loop, *r));
    CHECK(r->out == "250000\n");
  }

  TEST_CASE(
      "§119 a terminal is the child's controlling terminal, with its size, and Ctrl-C reaches it") {
    event_loop loop;
    auto request = shell("tty >/dev/null && stty size; trap 'echo int; exit 3' INT; echo ready; "
                         "while :; do sleep 1; done");
    request.input = stdin_mode::pty;
    request.output = output_mode::pty;
    request.terminal = {30, 100};
    auto r = start(loop, request);
    REQUIRE(loop.run_until([&] { return r->out.find("ready") != std::string::npos; }, hang_guard));
    CHECK(r->out.find("30 100") != std::string::npos);
    CHECK(r->child->write_stdin("\x03"));
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->code == 3);
  }
}
