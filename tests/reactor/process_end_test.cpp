#include "tests/reactor/process_fixture.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace gatehouse::reactor::test;
using namespace std::chrono_literals;

TEST_SUITE("reactor.process_end") {
  TEST_CASE("BR-157 a child that closes its output early is not taken for finished") {
    event_loop loop;
    pipe_pair closed;
    auto request = shell("exec 1>&- 2>&-; echo >&3; exec 3>&-; read line; exit 4");
    request.input = stdin_mode::pipe;
    request.pass_fds = {{closed.write_end.get(), 3}};
    auto r = start(loop, request);
    closed.wait();
    loop.poll();
    CHECK(r->order.empty());
    REQUIRE(r->child->write_stdin("go\n"));
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->code == 4);
    CHECK(r->order.ends_with("xE"));
  }

  TEST_CASE("BR-153 an exit without output is noticed though nothing was read") {
    event_loop loop;
    auto r = start(loop, shell("exit 7"));
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->code == 7);
    CHECK(r->order == "xE");
  }

  TEST_CASE("the exit of a child is reported while its consumer gives no credit") {
    event_loop loop;
    auto r = std::make_unique<recorded>();
    r->auto_grant = false;
    auto child = process::spawn(loop, shell("head -c 40000 /dev/zero; exit 5"), r->listener());
    REQUIRE(child);
    r->child = std::move(*child);
    REQUIRE(loop.run_until([&] { return r->exit.has_value(); }, hang_guard));
    CHECK(r->order.find('o') == r->order.rfind('o')); // one read
    CHECK_FALSE(r->end);
    while (!r->end) {
      r->child->grant(output_stream::standard_output);
      r->child->grant(output_stream::standard_error);
      loop.run_until([n = r->order.size(), &r] { return r->order.size() > n; }, 100ms);
    }
    CHECK(r->out.size() == 40000);
    CHECK_FALSE(r->end->drain_cut);
  }

  TEST_CASE("§96 a grandchild that holds the pipe delays the end by the drain time-out only, and "
            "what was read is kept") {
    auto time = std::make_shared<manual_clock>();
    event_loop loop{time};
    auto r = start(loop, shell("sleep 600 & echo $!; echo 'FINAL ERROR'; exit 2"));
    REQUIRE(loop.run_until([&] { return r->exit && r->out.ends_with("ERROR\n"); }, hang_guard));
    loop.poll();
    time->advance(1999ms);
    CHECK_FALSE(r->end);
    time->advance(1ms);
    REQUIRE(r->end);
    CHECK(r->end->drain_cut);
    CHECK(r->exit->code == 2);
    // BR-142: what the call left behind in its group is ended with it.
    CHECK(wait_gone(std::stoi(r->out)));
  }

  TEST_CASE("§96 what waits in the pipe at the drain time-out is delivered, credit or not") {
    auto time = std::make_shared<manual_clock>();
    event_loop loop{time};
    auto r = std::make_unique<recorded>();
    r->auto_grant = false;
    auto child =
        process::spawn(loop, shell("head -c 60000 /dev/zero; sleep 600 & exit 0"), r->listener());
    REQUIRE(child);
    r->child = std::move(*child);
    REQUIRE(loop.run_until([&] { return r->exit.has_value(); }, hang_guard));
    time->advance(2s);
    REQUIRE(r->end);
    CHECK(r->out.size() == 60000);
    CHECK(r->end->drain_cut);
  }

  TEST_CASE("§96 a stream found at its end by the drain time-out was not cut") {
    auto time = std::make_shared<manual_clock>();
    event_loop loop{time};
    auto r = std::make_unique<recorded>();
    r->auto_grant = false;
    auto child = process::spawn(loop, shell("head -c 60000 /dev/zero"), r->listener());
    REQUIRE(child);
    r->child = std::move(*child);
    REQUIRE(loop.run_until([&] { return r->exit.has_value(); }, hang_guard));
    time->advance(2s);
    REQUIRE(r->end);
    CHECK(r->out.size() == 60000);
    CHECK_FALSE(r->end->drain_cut);
  }

  TEST_CASE("a grandchild that floods the pipe cannot stretch the drain") {
    auto time = std::make_shared<manual_clock>();
    event_loop loop{time};
    auto r = start(loop, shell("yes & exit 0"));
    REQUIRE(loop.run_until([&] { return r->exit && r->out.size() > 100'000; }, hang_guard));
    time->advance(2s);
    REQUIRE(loop.run_until([&] { return r->end.has_value(); }, hang_guard));
    CHECK(r->end->drain_cut);
  }

  TEST_CASE("BR-130 a process substitution left behind does not hang the call") {
    event_loop loop;
    auto request = shell("exec > >(cat) 2>&1; echo hi; exit 3");
    request.program = "/bin/bash";
    auto r = start(loop, request);
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->code == 3);
    CHECK(r->out == "hi\n");
  }

  TEST_CASE("§99a a child that ignores TERM is killed after the grace, with its whole group") {
    auto time = std::make_shared<manual_clock>();
    event_loop loop{time};
    auto r = start(loop, shell("trap '' TERM; sleep 600 & echo $!; wait; wait; sleep 601"));
    REQUIRE(loop.run_until([&] { return r->out.ends_with("\n"); }, hang_guard));
    r->child->terminate(500ms);
    time->advance(499ms);
    CHECK_FALSE(r->exit);
    time->advance(1ms);
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->signal == SIGKILL);
    CHECK(wait_gone(std::stoi(r->out)));
  }

  TEST_CASE("W16 TERM reaches the command, which may end in its own way") {
    auto time = std::make_shared<manual_clock>();
    event_loop loop{time};
    auto r = start(loop, shell("trap 'echo got-term; exit 5' TERM; echo ready; "
                               "while :; do sleep 0.01; done"));
    REQUIRE(loop.run_until([&] { return r->out == "ready\n"; }, hang_guard));
    r->child->terminate(10s);
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->code == 5);
    CHECK(r->out == "ready\ngot-term\n");
  }

  TEST_CASE("BR-157 a stopped process is ended too") {
    auto time = std::make_shared<manual_clock>();
    event_loop loop{time};
    auto r = start(loop, shell("echo ready; kill -STOP $$"));
    REQUIRE(loop.run_until([&] { return r->out == "ready\n"; }, hang_guard));
    r->child->terminate(10s);
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->signal == SIGTERM);
  }

  TEST_CASE("BR-131 a descendant that left for a session of its own is ended with the tree") {
    auto time = std::make_shared<manual_clock>();
    event_loop loop{time};
    auto r = start(loop, shell("trap '' TERM; setsid sh -c 'echo $$; exec sleep 602' & wait; "
                               "wait; sleep 603"));
    REQUIRE(loop.run_until([&] { return r->out.ends_with("\n"); }, hang_guard));
    const pid_t escapee = std::stoi(r->out);
    r->child->terminate(1s);
    time->advance(1s);
    REQUIRE(finish(loop, *r));
    CHECK(wait_gone(escapee));
  }

  TEST_CASE("§99a terminate without grace kills at once, and may be called again at any time") {
    event_loop loop;
    auto r = start(loop, shell("sleep 600"));
    r->child->terminate(10s);
    r->child->terminate(0ms);
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->signal.has_value());
    r->child->terminate(0ms);
    r->child->signal(SIGTERM);
    CHECK(r->order == "xE");
  }

  TEST_CASE("§99a a process that its owner lets go is killed and reaped without a callback") {
    event_loop loop;
    loop.poll();
    const auto before = open_descriptors();
    auto r = start(loop, shell("trap '' TERM; echo ready; sleep 600"));
    REQUIRE(loop.run_until([&] { return !r->out.empty(); }, hang_guard));
    const pid_t pid = r->child->pid();
    r->child.reset();
    REQUIRE(loop.run_until([&] { return ::kill(pid, 0) != 0; }, hang_guard));
    CHECK_FALSE(r->exit);
    CHECK_FALSE(r->end);
    CHECK(open_descriptors() == before);
  }

  TEST_CASE("an owner may let the process go from inside each of its callbacks") {
    event_loop loop;
    for (const char at : std::string{"oxE"}) {
      CAPTURE(at);
      std::shared_ptr<process> child;
      std::string order;
      const auto reached = [&](char c) {
        order += c;
        if (c == at) child.reset();
      };
      auto spawned = process::spawn(loop, shell("echo hi"),
                                    {.on_output =
                                         [&](output_stream s, std::string_view) {
                                           reached('o');
                                           if (child) child->grant(s);
                                         },
                                     .on_exit = [&](const exit_status&) { reached('x'); },
                                     .on_end = [&](const process_end&) { reached('E'); },
                                     .on_input_drained = {}});
      REQUIRE(spawned);
      child = std::move(*spawned);
      const pid_t pid = child->pid();
      REQUIRE(loop.run_until([&] { return ::kill(pid, 0) != 0; }, hang_guard));
      loop.poll();
      CHECK(order.back() == at);
    }
  }

  TEST_CASE("§99a a loop that ends takes the children with it") {
    pid_t pid = 0;
    {
      event_loop loop;
      auto r = start(loop, shell("sleep 600"));
      pid = r->child->pid();
    }
    CHECK(::kill(pid, 0) != 0);
  }

  TEST_CASE(
      "§99a BR-142 what a call leaves in its group without holding a stream dies with it too") {
    event_loop loop;
    auto r = start(loop, shell("sleep 600 > /dev/null 2>&1 & echo $!"));
    REQUIRE(finish(loop, *r));
    CHECK_FALSE(r->end->drain_cut);
    CHECK(wait_gone(std::stoi(r->out)));
  }

  TEST_CASE("§99a a child does not outlive a daemon that is killed") {
    pipe_pair said;
    const pid_t daemon = ::fork();
    if (daemon == 0) {
      event_loop loop;
      auto r = start(loop, shell("exec sleep 600"));
      const pid_t child = r->child ? r->child->pid() : -1;
      if (::write(said.write_end.get(), &child, sizeof child) == sizeof child) ::pause();
      ::_exit(1);
    }
    REQUIRE(daemon > 0);
    pid_t child = -1;
    REQUIRE(::read(said.read_end.get(), &child, sizeof child) == sizeof child);
    REQUIRE(child > 0);
    ::kill(daemon, SIGKILL);
    ::waitpid(daemon, nullptr, 0);
    CHECK(wait_gone(child));
  }

  TEST_CASE("a daemon started with SIGCHLD ignored still learns how its children ended") {
    ::signal(SIGCHLD, SIG_IGN);
    event_loop loop;
    auto r = start(loop, shell("exit 3"));
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->code == 3);
  }

  TEST_CASE("a child whose status was taken by others still ends, with a code of its own") {
    event_loop loop;
    auto r = start(loop, shell("exit 0"));
    ::waitpid(r->child->pid(), nullptr, 0);
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->code == exit_status::unknown_code);
  }
}
