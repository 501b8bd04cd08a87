#include "reactor/timer.hpp"
#include "tests/reactor/process_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace gatehouse::reactor::test;
using namespace std::chrono_literals;

TEST_SUITE("reactor.process") {
  TEST_CASE("output, exit and end arrive once each, end last") {
    event_loop loop;
    auto r = start(loop, shell("echo to-out; echo to-err >&2; exit 3"));
    CHECK(r->order.empty());
    REQUIRE(finish(loop, *r));
    CHECK(r->out == "to-out\n");
    CHECK(r->err == "to-err\n");
    CHECK(r->exit->code == 3);
    CHECK_FALSE(r->exit->signal);
    CHECK_FALSE(r->end->drain_cut);
    CHECK(std::count(r->order.begin(), r->order.end(), 'x') == 1);
    CHECK(std::count(r->order.begin(), r->order.end(), 'E') == 1);
    CHECK(r->order.back() == 'E');
  }

  TEST_CASE("§97 a child that dies by a signal reports the signal and keeps its output") {
    event_loop loop;
    auto r = start(loop, shell("echo before; kill -SEGV $$"));
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->signal == SIGSEGV);
    CHECK_FALSE(r->exit->code);
    CHECK(r->out == "before\n");
  }

  TEST_CASE("the view handed to on_output stays whole after grant") {
    event_loop loop;
    std::shared_ptr<process> child;
    bool whole = true, ended = false;
    char expected = 'a';
    auto spawned = process::spawn(
        loop, shell("for c in a b c d; do head -c 16384 /dev/zero | tr '\\0' $c; done"),
        {.on_output =
             [&](output_stream s, std::string_view bytes) {
               child->grant(s);
               for (std::size_t i = 0; i < bytes.size(); ++i) {
                 whole = whole && (bytes[i] == expected || bytes[i] == ++expected);
               }
             },
         .on_exit = {},
         .on_end = [&](const process_end&) { ended = true; },
         .on_input_drained = {}});
    REQUIRE(spawned);
    child = std::move(*spawned);
    REQUIRE(loop.run_until([&] { return ended; }, hang_guard));
    CHECK(whole);
    CHECK(expected == 'd');
  }

  TEST_CASE("a slow consumer bounds memory: the child waits until it is granted more") {
    event_loop loop;
    auto r = std::make_unique<recorded>();
    r->auto_grant = false;
    std::size_t total = 0, reads = 0;
    std::shared_ptr<process> child;
    timer pause{loop};
    bool ended = false;
    constexpr std::size_t bytes = 100'000'000;
    auto spawned = process::spawn(loop, shell("head -c " + std::to_string(bytes) + " /dev/zero"),
                                  {.on_output =
                                       [&](output_stream s, std::string_view chunk) {
                                         total += chunk.size();
                                         if (++reads % 2000 == 0)
                                           pause.start(1ms, [&, s] { child->grant(s); });
                                         else
                                           child->grant(s);
                                       },
                                   .on_exit = {},
                                   .on_end = [&](const process_end&) { ended = true; },
                                   .on_input_drained = {}});
    REQUIRE(spawned);
    child = std::move(*spawned);
    REQUIRE(loop.run_until([&] { return ended; }, hang_guard));
    CHECK(total == bytes);
  }

  TEST_CASE("200 children at once all end, and no descriptor, process or zombie is left") {
    event_loop loop;
    loop.poll();
    const auto before = open_descriptors();
    {
      std::vector<std::unique_ptr<recorded>> all;
      for (int i = 0; i < 200; ++i)
        all.push_back(
            start(loop, shell("echo " + std::to_string(i) + "; exit " + std::to_string(i % 100))));
      for (int i = 0; i < 200; ++i) {
        auto& r = *all[static_cast<std::size_t>(i)];
        REQUIRE(finish(loop, r));
        CHECK(r.out == std::to_string(i) + "\n");
        CHECK(r.exit->code == i % 100);
      }
      // BR-138: a finished one keeps nothing open though its owner still has it.
      CHECK(open_descriptors() == before);
    }
    loop.poll();
    CHECK(open_descriptors() == before);
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  }

  TEST_CASE("a child sees no descriptor of the daemon, whatever its flags") {
    event_loop loop;
    const int leaky = ::open("/dev/null", O_RDONLY); // without O_CLOEXEC
    const int high = ::fcntl(leaky, F_DUPFD, 300);
    auto r = start(loop, shell("n=3; while [ $n -lt 400 ]; do [ -e /proc/$$/fd/$n ] && echo $n; "
                               "n=$((n + 1)); done; echo done"));
    REQUIRE(finish(loop, *r));
    CHECK(r->out == "done\n");
    ::close(leaky);
    ::close(high);
  }

  TEST_CASE("passed descriptors arrive under their numbers even when those are crossed") {
    event_loop loop;
    int one[2], two[2];
    REQUIRE(::pipe2(one, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(two, O_CLOEXEC) == 0);
    const auto a = std::to_string(one[1]), b = std::to_string(two[1]);
    auto request = shell("echo first >&" + b + "; echo second >&" + a);
    request.program = "/bin/bash";
    request.pass_fds = {{one[1], two[1]}, {two[1], one[1]}};
    auto r = start(loop, request);
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->code == 0);
    char text[16] = {};
    CHECK(::read(one[0], text, sizeof text) == 6);
    CHECK(std::string{text, 6} == "first\n");
    CHECK(::read(two[0], text, sizeof text) == 7);
    CHECK(std::string{text, 7} == "second\n");
    for (const int fd : {one[0], one[1], two[0], two[1]})
      ::close(fd);
  }

  TEST_CASE("BR-135 a child without a terminal cannot open the daemon's") {
    event_loop loop;
    auto r = start(loop, shell("(: < /dev/tty) 2> /dev/null && echo opened; exit 0"));
    REQUIRE(finish(loop, *r));
    CHECK(r->out.empty());
  }

  TEST_CASE("a child begins with default signals and none blocked though the daemon differs") {
    event_loop loop; // ignores SIGPIPE
    sigset_t usr1, before;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, &before);
    const auto handler = ::signal(SIGQUIT, SIG_IGN);
    auto request = shell("");
    request.argv = {"grep", "-E", "Sig(Ign|Blk)", "/proc/self/status"};
    request.program = "/bin/grep";
    auto r = start(loop, request);
    ::signal(SIGQUIT, handler);
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, &before, &now);
    CHECK(sigismember(&now, SIGUSR1) == 1); // ours are as they were
    CHECK(sigismember(&now, SIGTERM) == 0);
    REQUIRE(finish(loop, *r));
    CHECK(r->out == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  }

  TEST_CASE("a child gets the environment and folder of its request and nothing else") {
    event_loop loop;
    auto request = shell("");
    request.argv = {"env"};
    request.program.clear();
    request.env = {"A=1", "PATH=/usr/bin", "B="};
    auto r = start(loop, request);
    REQUIRE(finish(loop, *r));
    CHECK(r->out == "A=1\nPATH=/usr/bin\nB=\n");

    request = shell("pwd -P");
    request.cwd = "/usr/bin";
    r = start(loop, request);
    REQUIRE(finish(loop, *r));
    CHECK(r->out == std::filesystem::canonical("/usr/bin").string() + "\n");
  }
}
