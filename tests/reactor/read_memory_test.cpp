#include "reactor/read_memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

using namespace gatehouse::reactor;

namespace {

/// As a read does it.
std::string_view read(std::size_t count, char what) {
  auto& memory = read_memory();
  std::fill_n(memory.begin(), count, what);
  return std::string_view{memory}.substr(0, count);
}

} // namespace

TEST_SUITE("reactor.read_memory") {
  TEST_CASE(
      "§96 a block that was read is taken without a copy, and the next read has other memory") {
    const auto first = read(read_block, 'a');
    const auto taken = take_read(first);
    CHECK(taken.data() == first.data());
    CHECK(taken == std::string(read_block, 'a'));
    const auto second = read(read_block, 'b');
    CHECK(second.data() != taken.data());
    CHECK(taken == std::string(read_block, 'a'));
    CHECK(take_read(second) == std::string(read_block, 'b'));
  }

  TEST_CASE("§96 little of a block costs no block") {
    const auto little = read(100, 'a');
    const auto taken = take_read(little);
    CHECK(taken == std::string(100, 'a'));
    CHECK(taken.capacity() < 1000);
    CHECK(little.data() == read_memory().data());
  }

  TEST_CASE("§96 bytes of elsewhere, and a part of a read, are copied") {
    const std::string other(read_block, 'x');
    CHECK(take_read(other) == other);
    const auto part = read(read_block, 'a').substr(1);
    const auto taken = take_read(part);
    CHECK(taken == part);
    CHECK(taken.data() != part.data());
    CHECK(take_read({}).empty());
  }

  TEST_CASE("§96 memory that is given back is read into again, a few blocks of it") {
    auto taken = take_read(read(read_block - 1000, 'a'));
    const auto* memory = taken.data();
    (void)take_read(read(read_block, 'b')); // so that the next read needs memory
    give_back(std::move(taken));
    CHECK(read_memory().data() == memory);
    CHECK(read_memory().size() >= read_block);

    std::vector<std::string> blocks;
    for (int i = 0; i < 20; ++i)
      blocks.push_back(take_read(read(read_block, 'c')));
    std::vector<const char*> given;
    for (auto& block : blocks) {
      given.push_back(block.data());
      give_back(std::move(block));
    }
    for (int i = 0; i < 4; ++i)
      CHECK(std::ranges::find(given, take_read(read(read_block, 'd')).data()) != given.end());
  }

  TEST_CASE("§96 memory that is no block is not read into") {
    std::string small(100, 'x'), large(10 * read_block, 'x');
    const auto *few = small.data(), *many = large.data();
    give_back(std::move(small));
    give_back(std::move(large));
    for (int i = 0; i < 8; ++i) {
      const auto taken = take_read(read(read_block, 'a'));
      CHECK(taken.data() != few);
      CHECK(taken.data() != many);
      CHECK(taken.size() == read_block);
    }
  }
}
