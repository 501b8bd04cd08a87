#include "protocol/abridged.hpp"

#include "protocol/utf8.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gatehouse;

TEST_SUITE("protocol.abridged") {
  TEST_CASE("a long text is abridged in its middle, at a character") {
    CHECK(abridged("short", 5) == "short");
    CHECK(abridged("beginning and end", 12) == "beginnin… end");
    for (std::size_t most = 0; most < 40; ++most) {
      const auto text = abridged("ä€😀ä€😀ä€😀ä€😀ä€😀", most);
      CHECK_FALSE(find_invalid_utf8(text));
      CHECK(text.size() <= std::max<std::size_t>(most + 3, 3));
    }
  }
}
