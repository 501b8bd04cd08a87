#include "cli/load_histogram.hpp"

#include <doctest/doctest.h>

using gatehouse::cli::latency_histogram;
using std::chrono::microseconds;

TEST_SUITE("cli.load_histogram") {
  TEST_CASE("§203 percentiles are within 1/64 of the value that was added") {
    for (const std::int64_t value :
         {0L, 1L, 63L, 64L, 127L, 128L, 1000L, 12'345L, 1'000'000L, 86'400'000'000L}) {
      latency_histogram one;
      one.add(microseconds{value});
      one.add(microseconds{value * 2});
      const auto median = one.percentile(50).count();
      CHECK(median >= value);
      CHECK(median <= value + value / 64 + 1);
    }
  }

  TEST_CASE("§203 percentiles go by rank") {
    latency_histogram many;
    CHECK(many.percentile(99).count() == 0);
    for (int i = 1; i <= 100; ++i)
      many.add(microseconds{i < 100 ? 10 : 60});
    CHECK(many.percentile(50).count() == 10);
    CHECK(many.percentile(99).count() == 10);
    CHECK(many.percentile(99.9).count() == 60);
    CHECK(many.percentile(100).count() == 60);
    CHECK(many.count() == 100);
    CHECK(many.max().count() == 60);
    CHECK(many.mean().count() == 10);
    CHECK(many.buckets().size() == 2);
  }

  TEST_CASE("§203 no value is lost, however large or wrong") {
    latency_histogram odd;
    odd.add(microseconds{-5});
    odd.add(microseconds::max() / 2);
    std::uint64_t sum = 0;
    for (const auto& [upper, number] : odd.buckets())
      sum += number;
    CHECK(sum == 2);
  }
}
