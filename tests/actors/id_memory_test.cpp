#include "actors/id_memory.hpp"

#include <doctest/doctest.h>

#include <string>

using gatehouse::actors::id_memory;

TEST_SUITE("actors.id_memory") {
  TEST_CASE("§201 an id that was used is known for ever, one that was not is new") {
    id_memory used{100'000};
    for (int i = 0; i < 100'000; ++i) {
      const auto id = "call-" + std::to_string(i);
      REQUIRE_FALSE(used.contains(id));
      used.add(id);
    }
    for (int i = 0; i < 100'000; ++i)
      REQUIRE(used.contains("call-" + std::to_string(i)));
    CHECK_FALSE(used.contains("call-100000"));
    CHECK_FALSE(used.contains(""));
  }

  TEST_CASE("§201 it is full after so many ids, and an id that comes again is none") {
    id_memory used{2};
    used.add("a");
    used.add("a");
    CHECK_FALSE(used.is_full());
    used.add("b");
    CHECK(used.is_full());
    used.add("c"); // a stop of the user is never refused
    CHECK(used.contains("c"));
  }
}
