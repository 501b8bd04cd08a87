#include "actors/endpoint/request_lane.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace gatehouse::actors;

TEST_SUITE("actors.request_lane") {
  TEST_CASE("§201 a cancellation waited behind all the threads that its client asked for before") {
    std::deque<request_lane::work> loop;
    const auto lane = std::make_shared<request_lane>(
        [&](request_lane::work what) { loop.push_back(std::move(what)); }, 3, 2);
    std::string done;
    const auto turn = [&] {
      const auto now = std::move(loop.front());
      loop.pop_front();
      now();
    };
    for (const char what : {'a', 'b', 'c'})
      lane->add([&done, what] { done += what; });
    CHECK(done.empty()); // never inside the request
    CHECK(lane->is_full());
    turn();
    turn();
    CHECK(done == "a");
    for (int i = 0; i < 2; ++i) { // what comes meanwhile waits for one of them at most
      loop.push_back([&] { done += '!'; });
      turn();
      turn();
    }
    CHECK(done == "a!b!");
    lane->add([&] { lane->add([&] { done += 'e'; }); });
    while (!loop.empty())
      turn();
    CHECK(done == "a!b!ce");
    lane->add([&] { done += 'f'; });
    lane->clear();
    while (!loop.empty())
      turn();
    CHECK(done == "a!b!ce");
  }
}
