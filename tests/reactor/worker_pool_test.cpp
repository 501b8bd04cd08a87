#include "reactor/worker_pool.hpp"

#include <doctest/doctest.h>

#include <future>
#include <string>
#include <thread>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace std::chrono_literals;

TEST_SUITE("reactor.worker_pool") {
  TEST_CASE("work runs off the loop and its completion on it, with the value") {
    event_loop loop;
    worker_pool pool{loop, 2};
    std::thread::id worked_on, done_on;
    std::string value;
    REQUIRE(pool.submit_value(
        [&] {
          worked_on = std::this_thread::get_id();
          return std::string{"made"};
        },
        [&](std::string made) {
          done_on = std::this_thread::get_id();
          value = std::move(made);
        }));
    CHECK(loop.run_until([&] { return !value.empty(); }, 20s));
    CHECK(value == "made");
    CHECK(done_on == std::this_thread::get_id());
    CHECK(worked_on != std::this_thread::get_id());
  }

  TEST_CASE("a thousand jobs all complete, each once") {
    event_loop loop;
    worker_pool pool{loop, 3};
    int done = 0;
    for (int i = 0; i < 1000; ++i)
      REQUIRE(pool.submit([] {}, [&] { ++done; }));
    CHECK(loop.run_until([&] { return done >= 1000; }, 20s));
    loop.poll();
    CHECK(done == 1000);
  }

  TEST_CASE("what must not be lost was dropped at the end of the program") {
    event_loop loop;
    int kept = 0;
    bool dropped = true;
    std::promise<void> begun, release;
    worker_pool pool{loop, 1};
    REQUIRE(pool.submit(
        [&] {
          begun.set_value();
          release.get_future().wait();
        },
        [] {}));
    begun.get_future().wait();
    REQUIRE(pool.submit([&] { dropped = false; }, [] {}));
    for (int i = 0; i < 3; ++i)
      REQUIRE(pool.submit_for_sure([&] { ++kept; }, [] {}));
    std::thread let_go{[&] {
      for (auto told = pool.submit([] {}, [] {}); told || told.error().code != errc::cancelled;)
        told = pool.submit([] {}, [] {});
      release.set_value();
    }};
    pool.finish();
    let_go.join();
    CHECK(kept == 3);
    CHECK(dropped);
    CHECK_FALSE(pool.submit_for_sure([] {}, [] {}));
  }

  TEST_CASE("more jobs than may wait are refused, and accepted again later") {
    event_loop loop;
    worker_pool pool{loop, 1, 2};
    std::promise<void> begun, release;
    int done = 0;
    REQUIRE(pool.submit(
        [&] {
          begun.set_value();
          release.get_future().wait();
        },
        [&] { ++done; }));
    begun.get_future().wait();
    CHECK(pool.submit([] {}, [&] { ++done; }));
    CHECK(pool.submit([] {}, [&] { ++done; }));
    bool ran = false;
    const auto refused = pool.submit([&] { ran = true; }, [&] { ran = true; });
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::too_large);
    release.set_value();
    CHECK(loop.run_until([&] { return done == 3; }, 20s));
    CHECK(pool.submit([] {}, [&] { ++done; }));
    CHECK(loop.run_until([&] { return done == 4; }, 20s));
    CHECK_FALSE(ran);
  }

  TEST_CASE("a pool that ends waits for what runs and drops what waits and what would complete") {
    event_loop loop;
    bool finished = false, waited = false, completed = false;
    {
      std::promise<void> begun, dropped;
      worker_pool pool{loop, 1};
      REQUIRE(pool.submit(
          [&] {
            begun.set_value();
            dropped.get_future().wait();
            finished = true;
          },
          [&] { completed = true; }));
      const auto tell = [&](int* p) {
        dropped.set_value();
        delete p;
      };
      REQUIRE(pool.submit([&waited, owned = std::shared_ptr<int>{new int, tell}] { waited = true; },
                          [&] { completed = true; }));
      begun.get_future().wait();
    }
    CHECK(finished);
    CHECK_FALSE(waited);
    loop.poll();
    CHECK_FALSE(completed);
  }
}
