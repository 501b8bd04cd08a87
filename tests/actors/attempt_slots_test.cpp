#include "actors/attempt_slots.hpp"

#include <doctest/doctest.h>

#include <string>

using gatehouse::actors::attempt_slots;

TEST_SUITE("actors.attempt_slots") {
  TEST_CASE("who waits gets a slot in the order of asking, one each time") {
    attempt_slots slots{2};
    const int a = 0, b = 0, c = 0;
    std::string told;
    const auto say = [&told](char who) { return [&told, who] { told += who; }; };
    CHECK(slots.ask(&a, say('a')));
    CHECK(slots.ask(&a, say('a')));
    CHECK_FALSE(slots.ask(&a, say('a')));
    CHECK_FALSE(slots.ask(&a, say('a'))); // it waits already
    CHECK_FALSE(slots.ask(&b, say('b')));
    CHECK_FALSE(slots.ask(&c, say('c')));
    slots.give_back();
    CHECK(told == "a");
    slots.take(&a);
    CHECK_FALSE(slots.ask(&a, say('a'))); // behind the others now
    slots.give_back();
    slots.give_back();
    CHECK(told == "abc");
    CHECK(slots.used() == 2);
    slots.take(&b);
    slots.take(&c);
    slots.give_back();
    CHECK(told == "abca");
    slots.take(&a);
    slots.give_back();
    slots.give_back();
    CHECK(slots.used() == 0);
  }

  TEST_CASE("what an owner that ends waited for, or had not heard of, goes to the next") {
    attempt_slots slots{1};
    const int a = 0, b = 0, c = 0;
    int heard = 0;
    CHECK(slots.ask(&a, [] {}));
    CHECK_FALSE(slots.ask(&b, [] {}));
    CHECK_FALSE(slots.ask(&c, [&heard] { ++heard; }));
    slots.give_back(); // b has it, and does not know yet
    slots.leave(&b);
    CHECK(heard == 1);
    slots.take(&c);
    slots.leave(&a); // has nothing
    CHECK(slots.used() == 1);
    slots.give_back();
    CHECK(slots.used() == 0);
  }
}
