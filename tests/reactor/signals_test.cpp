#include "reactor/signals.hpp"

#include "tests/reactor/process_fixture.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace gatehouse::reactor::test;

TEST_SUITE("reactor.signals") {
  TEST_CASE("signals arrive on the loop, again and again") {
    event_loop loop;
    std::vector<int> seen;
    auto watch =
        signal_watch::open(loop, {SIGTERM, SIGHUP}, [&](int number) { seen.push_back(number); });
    REQUIRE(watch);
    for (const int number : {SIGTERM, SIGHUP, SIGTERM}) {
      const auto before = seen.size();
      ::raise(number);
      CHECK(seen.size() == before);
      REQUIRE(loop.run_until([&] { return seen.size() > before; }, hang_guard));
    }
    CHECK(seen == std::vector<int>{SIGTERM, SIGHUP, SIGTERM});
  }

  TEST_CASE("a callback may end the watch, and then the signal has its default effect again") {
    event_loop loop;
    std::unique_ptr<signal_watch> watch;
    auto opened = signal_watch::open(loop, {SIGTERM}, [&](int) { watch.reset(); });
    REQUIRE(opened);
    watch = std::move(*opened);
    ::raise(SIGTERM);
    CHECK(loop.run_until([&] { return !watch; }, hang_guard));
    struct sigaction now {};
    ::sigaction(SIGTERM, nullptr, &now);
    CHECK((now.sa_handler == SIG_DFL));
  }

  TEST_CASE("a signal that cannot be caught is an error") {
    event_loop loop;
    const auto watch = signal_watch::open(loop, {SIGTERM, SIGKILL}, [](int) {});
    REQUIRE_FALSE(watch);
    CHECK(watch.error().code == errc::io);
    CHECK(watch.error().message.find("9") != std::string::npos);
  }

  TEST_CASE("a watch does not reach into children: they begin with the default") {
    event_loop loop;
    auto watch = signal_watch::open(loop, {SIGTERM}, [](int) {});
    REQUIRE(watch);
    auto r = start(loop, shell("kill -TERM $$; exit 3"));
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->signal == SIGTERM);
  }
}
