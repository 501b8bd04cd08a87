#include "actors/circuit_breaker.hpp"

#include <doctest/doctest.h>

using gatehouse::actors::circuit_breaker;

TEST_SUITE("actors.circuit_breaker") {
  TEST_CASE("§48a three refusals in a row open it, and it says so") {
    circuit_breaker breaker;
    breaker.refused();
    breaker.refused();
    breaker.allowed();
    breaker.refused();
    breaker.refused();
    CHECK_FALSE(breaker.open());
    CHECK(breaker.reason().empty());
    breaker.refused();
    CHECK(breaker.open());
    CHECK(breaker.reason().find("refused 3 actions in a row") != std::string::npos);
  }

  TEST_CASE("§48a ten refusals among the last fifty open it") {
    circuit_breaker breaker;
    for (int i = 0; i < 9; ++i) {
      breaker.refused();
      breaker.allowed();
    }
    CHECK_FALSE(breaker.open());
    breaker.refused();
    CHECK(breaker.open());
    CHECK(breaker.reason().find("refused 10 of the last 19") != std::string::npos);
  }

  TEST_CASE("§48a refusals older than fifty verdicts are forgotten") {
    circuit_breaker breaker;
    for (int i = 0; i < 9; ++i) {
      breaker.refused();
      for (int k = 0; k < 5; ++k)
        breaker.allowed();
    }
    for (int i = 0; i < 20; ++i) {
      breaker.refused();
      for (int k = 0; k < 5; ++k)
        breaker.allowed();
    }
    CHECK_FALSE(breaker.open());
  }

  TEST_CASE("§48a once open it stays open until a new turn") {
    circuit_breaker breaker;
    for (int i = 0; i < 3; ++i)
      breaker.refused();
    const auto reason = breaker.reason();
    breaker.allowed();
    breaker.refused();
    CHECK(breaker.reason() == reason);
    breaker.reset();
    CHECK_FALSE(breaker.open());
    breaker.refused();
    breaker.refused();
    CHECK_FALSE(breaker.open());
  }
}
