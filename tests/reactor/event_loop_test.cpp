#include "reactor/event_loop.hpp"

#include "reactor/detail/timer_queue.hpp"
#include "reactor/timer.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>

using namespace gatehouse::reactor;
using namespace std::chrono_literals;

TEST_SUITE("reactor.event_loop") {
  TEST_CASE("a posted function never runs inside the call that posts it, and runs in order") {
    event_loop loop;
    std::string order;
    loop.post([&] {
      loop.post([&] { order += "c"; });
      order += "a";
    });
    loop.post([&] { order += "b"; });
    CHECK(order.empty());
    CHECK(loop.run_until([&] { return order.size() == 3; }, 10s));
    CHECK(order == "abc");
  }

  TEST_CASE("stop before run ends that run, and only that one") {
    event_loop loop;
    loop.stop();
    loop.run();
    bool ran = false;
    loop.post([&] {
      ran = true;
      loop.stop();
    });
    loop.run();
    CHECK(ran);
  }

  TEST_CASE("the guard of run_until passes in real time though the clock stands still") {
    event_loop loop{std::make_shared<manual_clock>()};
    CHECK_FALSE(loop.run_until([] { return false; }, 5ms));
  }

  TEST_CASE("another thread may post and stop") {
    event_loop loop;
    std::thread::id ran_on;
    std::thread other{[&] {
      loop.post([&] { ran_on = std::this_thread::get_id(); });
      loop.post([&] { loop.stop(); });
    }};
    loop.run();
    other.join();
    CHECK(ran_on == std::this_thread::get_id());
    CHECK_FALSE(loop.in_loop());
  }
}

TEST_SUITE("reactor.timer") {
  TEST_CASE("timers run in the order they fall due, each at its own time") {
    auto time = std::make_shared<manual_clock>();
    event_loop loop{time};
    const auto begin = time->now();
    std::string order;
    timer a{loop}, b{loop}, c{loop};
    a.start(3s, [&] { order += "a"; });
    b.start(1s, [&] {
      order += "b";
      CHECK(loop.now() - begin == 1s);
      c.start(1s, [&] {
        order += "c";
        CHECK(loop.now() - begin == 2s);
      });
    });
    time->advance(999ms);
    CHECK(order.empty());
    time->advance(10s);
    CHECK(order == "bca");
  }

  TEST_CASE("a timer that was cancelled, set again or destroyed by an earlier one never runs") {
    auto time = std::make_shared<manual_clock>();
    event_loop loop{time};
    std::string order;
    timer cancelled{loop}, again{loop};
    auto destroyed = std::make_unique<timer>(loop);
    timer first{loop};
    first.start(1s, [&] {
      cancelled.cancel();
      again.start(1s, [&] { order += "new"; });
      destroyed.reset();
    });
    cancelled.start(1s, [&] { order += "cancelled"; });
    again.start(1s, [&] { order += "old"; });
    destroyed->start(1s, [&] { order += "destroyed"; });
    time->advance(1s);
    CHECK(order.empty());
    CHECK(again.pending());
    time->advance(1s);
    CHECK(order == "new");
    CHECK_FALSE(again.pending());
  }

  TEST_CASE("a timer may set and destroy itself") {
    auto time = std::make_shared<manual_clock>();
    event_loop loop{time};
    int ticks = 0;
    auto t = std::make_unique<timer>(loop);
    std::function<void()> tick = [&] {
      if (++ticks == 3)
        t.reset();
      else
        t->start(1s, tick);
    };
    t->start(1s, tick);
    time->advance(10s);
    CHECK(ticks == 3);
  }

  TEST_CASE("a timer that sets itself for at once does not starve the loop") {
    event_loop loop;
    timer t{loop};
    std::function<void()> spin = [&] { t.start(0s, spin); };
    t.start(0s, spin);
    bool ran = false;
    loop.post([&] { loop.post([&] { ran = true; }); });
    CHECK(loop.run_until([&] { return ran; }, 10s));
  }

  TEST_CASE("with the machine's clock the earliest of several wakes the loop") {
    event_loop loop;
    std::string order;
    timer late{loop}, early{loop};
    late.start(20ms, [&] { order += "late"; });
    early.start(1ms, [&] { order += "early "; });
    CHECK(loop.run_until([&] { return order.size() > 6; }, 10s));
    CHECK(order == "early late");
  }

  TEST_CASE("timers still set when the loop ends do not run") {
    bool ran = false;
    {
      auto time = std::make_shared<manual_clock>();
      event_loop loop{time};
      timer t{loop};
      t.start(1s, [&] { ran = true; });
    }
    CHECK_FALSE(ran);
  }
}
