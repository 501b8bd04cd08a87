#include "actors/process_store.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace gatehouse::actors;
using namespace std::chrono_literals;

namespace {

process_store::time_point at(int seconds) {
  return process_store::time_point{} + std::chrono::seconds{seconds};
}

process_store small(std::size_t cap, std::size_t recent) {
  return process_store{process_store::increasing_ids(), {cap, recent}};
}

int admitted(process_store& store, int second, std::optional<int>* victim = nullptr) {
  const int id = *store.reserve();
  const auto gone = store.admit(id, at(second));
  if (victim) *victim = gone;
  return id;
}

} // namespace

TEST_SUITE("actors.process_store") {
  TEST_CASE("§9 ids are reserved once, freed by release, and increasing in tests") {
    auto store = small(64, 8);
    CHECK(*store.reserve() == 1000);
    CHECK(*store.reserve() == 1001);
    CHECK(store.reserved() == 2);
    CHECK(store.size() == 0);
    store.release(1000);
    store.release(1000);
    store.release(4711);
    CHECK(store.reserved() == 1);
    store.admit(1001, at(1));
    CHECK(store.reserved() == 0);
    CHECK(store.ids() == std::vector<int>{1001});
    store.release(1001); // no reservation any more: the session stays
    CHECK(store.contains(1001));
  }

  TEST_CASE("§9 random ids lie in 1000..99999 and never repeat while in use") {
    process_store store{process_store::random_ids()};
    std::set<int> seen;
    for (int i = 0; i < 2000; ++i) {
      const int id = *store.reserve();
      CHECK(id >= 1000);
      CHECK(id <= 99'999);
      CHECK(seen.insert(id).second);
    }
  }

  TEST_CASE("§9 a source that only repeats itself still gives unique ids, until all are taken") {
    process_store store{[] { return 1000; }};
    for (int i = 0; i < 20; ++i)
      CHECK(*store.reserve() == 1000 + i);
    process_store full{process_store::increasing_ids()};
    for (int id = process_store::first_id; id <= process_store::last_id; ++id)
      REQUIRE(full.reserve());
    const auto none = full.reserve();
    REQUIRE(!none);
    CHECK(none.error().code == gatehouse::errc::too_large);
    full.release(5000);
    CHECK(*full.reserve() == 5000);
  }

  TEST_CASE("§126 the oldest exited one makes room first, then the oldest") {
    auto store = small(3, 1);
    std::optional<int> victim;
    const int a = admitted(store, 1), b = admitted(store, 2), c = admitted(store, 3, &victim);
    CHECK(!victim);
    store.exited(b);
    const int d = admitted(store, 4, &victim);
    CHECK(victim == b);
    CHECK(store.ids() == std::vector<int>{a, c, d});
    admitted(store, 5, &victim);
    CHECK(victim == a);
  }

  TEST_CASE("§126 the recently used ones are protected, exited or not") {
    auto store = small(3, 2);
    std::optional<int> victim;
    const int a = admitted(store, 1), b = admitted(store, 2), c = admitted(store, 3);
    store.exited(c);
    store.used(a, at(4));
    admitted(store, 5, &victim); // protected: a and c
    CHECK(victim == b);
  }

  TEST_CASE("§126 a session that somebody waits on is not evicted; then the cap is soft") {
    auto store = small(1, 0);
    std::optional<int> victim;
    const int a = admitted(store, 1);
    store.hold(a);
    store.hold(a);
    store.unhold(a);
    const int b = admitted(store, 2, &victim);
    CHECK(!victim);
    CHECK(store.size() == 2);
    store.unhold(a);
    store.unhold(a);
    admitted(store, 3, &victim);
    CHECK(victim == a);
    CHECK(store.contains(b));
  }

  TEST_CASE("§9 §126 no order of operations leaks or doubles an id") {
    std::mt19937 random{7};
    auto store = small(5, 2);
    std::set<int> reserved, stored;
    for (int i = 0; i < 20'000; ++i) {
      const auto pick = [&](const std::set<int>& from) {
        auto it = from.begin();
        std::advance(it, random() % from.size());
        return *it;
      };
      switch (random() % 6) {
      case 0: {
        const int id = *store.reserve();
        CHECK(!stored.contains(id));
        CHECK(reserved.insert(id).second);
        break;
      }
      case 1:
        if (!reserved.empty()) {
          const int id = pick(reserved);
          if (const auto victim = store.admit(id, at(i))) CHECK(stored.erase(*victim) == 1);
          reserved.erase(id);
          stored.insert(id);
        }
        break;
      case 2:
        if (!reserved.empty()) {
          const int id = pick(reserved);
          store.release(id);
          reserved.erase(id);
        }
        break;
      case 3:
        if (!stored.empty()) store.exited(pick(stored));
        break;
      case 4:
        if (!stored.empty()) store.used(pick(stored), at(i));
        break;
      case 5:
        if (!stored.empty()) {
          const int id = pick(stored);
          store.remove(id);
          stored.erase(id);
        }
        break;
      }
      REQUIRE(store.reserved() == reserved.size());
      REQUIRE(store.size() == stored.size());
      REQUIRE(store.size() <= 5);
    }
  }
}
