#include "cli/retained_output.hpp"

#include <doctest/doctest.h>

using namespace gatehouse::cli;

namespace {

std::shared_ptr<const std::string> bytes(std::size_t count) {
  return std::make_shared<const std::string>(count, 'x');
}

/// Memory for so many pieces of so many bytes.
constexpr std::size_t room(std::size_t pieces, std::size_t size) {
  return pieces * (size + retained_output::piece_overhead);
}

} // namespace

TEST_SUITE("cli.retained_output") {
  TEST_CASE("§120 a reader is told of what it misses, not of all that was ever dropped") {
    retained_output kept{room(2, 4) + 2};
    for (std::uint64_t seq = 1; seq <= 6; ++seq)
      kept.add({seq, "stdout", bytes(4)});
    CHECK(kept.chunks().size() == 2);
    CHECK(kept.chunks().front().seq == 5);
    CHECK(kept.missing_after(0) == 16);
    CHECK(kept.missing_after(3) == 4);
    CHECK(kept.missing_after(4) == 0);
    CHECK(kept.missing_after(9) == 0);
  }

  TEST_CASE("§120 numbers that are no output leave no gap") {
    retained_output kept{room(1, 4)};
    kept.add({2, "stdout", bytes(4)});
    kept.add({5, "stdout", bytes(4)});
    CHECK(kept.missing_after(1) == 4);
    CHECK(kept.missing_after(2) == 0);
    CHECK(kept.missing_after(4) == 0);
  }

  TEST_CASE("§120 a chunk larger than all that is kept is dropped and counted") {
    retained_output kept{room(1, 4)};
    kept.add({1, "stdout", bytes(5)});
    CHECK(kept.chunks().empty());
    CHECK(kept.missing_after(0) == 5);
  }

  TEST_CASE("§120 very many pieces cost bounded memory, and the oldest readers hear of them all") {
    retained_output kept{room(2, 1)};
    for (std::uint64_t seq = 1; seq <= 10'000; ++seq)
      kept.add({seq, "pty", bytes(1)});
    CHECK(kept.missing_after(0) == 9'998);
    CHECK(kept.missing_after(9'000) == 998);
    CHECK(kept.missing_after(10) == 9'998);
  }

  TEST_CASE("§120 many small pieces took many times the memory that may be kept") {
    constexpr std::size_t most = std::size_t{1024} * 1024;
    retained_output kept{most};
    for (std::uint64_t seq = 1; seq <= 100'000; ++seq)
      kept.add({seq, "stdout", bytes(1)});
    CHECK(room(kept.chunks().size(), 1) <= most);
    CHECK(room(kept.chunks().size() + 1, 1) > most);
    CHECK(kept.missing_after(0) == 100'000 - kept.chunks().size());
  }
}
