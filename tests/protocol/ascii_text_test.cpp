#include "protocol/ascii_text.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;

TEST_SUITE("protocol.ascii_text") {
  TEST_CASE("only ASCII letters get small") {
    CHECK(to_lower_ascii("AZ az 09 @[`{") == "az az 09 @[`{");
    CHECK(to_lower_ascii("\u00c4\u0130\u212a \xc4\xff") == "\u00c4\u0130\u212a \xc4\xff");
    CHECK(to_lower_ascii(std::string_view{"A\0B", 3}) == std::string_view{"a\0b", 3});
    CHECK(to_lower_ascii("").empty());
  }

  TEST_CASE("blanks go at the ends only") {
    CHECK(trimmed(" \t\r\n a b\n") == "a b");
    CHECK(trimmed("a") == "a");
    CHECK(trimmed(" \n").empty());
    CHECK(trimmed("").empty());
    CHECK(trimmed("\va\f") == "\va\f");
    CHECK(trimmed("\va\f\n", "\v\f") == "a\f\n");
  }
}
