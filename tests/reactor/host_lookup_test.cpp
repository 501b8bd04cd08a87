#include "reactor/host_lookup.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace std::chrono_literals;

namespace {

struct silent_resolver : host_resolver {
  std::vector<std::pair<std::string, reply>> asked;
  void resolve(const std::string& host, reply answer) override {
    asked.emplace_back(host, std::move(answer));
  }
};

} // namespace

TEST_SUITE("reactor.host_lookup") {
  TEST_CASE("§143 names that nobody answers for keep only their own command waiting") {
    const auto system = std::make_shared<silent_resolver>();
    const auto hostile = fair_share(system), other = fair_share(system);
    int answered = 0;
    for (int i = 0; i < 500; ++i)
      hostile->resolve("slow" + std::to_string(i), [&](auto) { ++answered; });
    CHECK(system->asked.size() == 16);
    other->resolve("ok", [&](auto) { answered += 1000; });
    REQUIRE(system->asked.size() == 17);
    system->asked.back().second({});
    CHECK(answered == 1000);
    // Each answer lets the next one in, until all have had their turn.
    for (std::size_t i = 0; i < system->asked.size(); ++i)
      if (system->asked[i].first != "ok") std::exchange(system->asked[i].second, nullptr)({});
    CHECK(answered == 1500);
    CHECK(system->asked.size() == 501);
  }

  TEST_CASE("§143 an answer that comes after its asker has gone changes nothing") {
    const auto system = std::make_shared<silent_resolver>();
    auto gone = fair_share(system);
    bool called = false;
    gone->resolve("late", [&](auto) { called = true; });
    gone.reset();
    system->asked.at(0).second({});
    CHECK_FALSE(called);
  }

  TEST_CASE("§143 the system's resolver answers on the loop, and not after its end") {
    event_loop loop;
    auto names = system_resolver(loop);
    std::vector<ip_address> found;
    bool answered = false;
    names->resolve("127.0.0.1", [&](std::vector<ip_address> addresses) {
      CHECK(loop.in_loop());
      found = std::move(addresses);
      answered = true;
    });
    CHECK_FALSE(answered);
    CHECK(loop.run_until([&] { return answered; }, 10s));
    CHECK(found == std::vector{ipv4_address(0x7f000001)});
    bool late = false;
    for (int i = 0; i < 50; ++i)
      names->resolve("127.0.0.2", [&](auto) { late = true; });
    names.reset();
    (void)loop.run_until([] { return false; }, 200ms);
    CHECK_FALSE(late);
  }
}
