#include "protocol/utf8.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace gatehouse;

TEST_SUITE("protocol.utf8") {
  TEST_CASE("§96 text cut into chunks anywhere decodes to what the whole gives") {
    const std::vector<std::string> texts = {
        "plain",
        "aé€😀z",
        "\xF0\x9F\x98", // unfinished at the end
        "a\xE2\x82"
        "b\xC3",                        // unfinished in the middle and at the end
        "\x80\x80\xBF",                 // continuations of nothing
        "\xC0\xAF\xED\xA0\x80",         // overlong, surrogate
        "\xF4\x90\x80\x80\xF5\xFF",     // beyond Unicode
        "\xE0\x80\x80\xF0\x80\x80\x80", // overlong from the second byte on
        std::string{"nul\0é", 6},
    };
    for (const auto& text : texts) {
      CAPTURE(text);
      const auto whole = to_valid_utf8(text);
      for (std::size_t a = 0; a <= text.size(); ++a)
        for (std::size_t b = a; b <= text.size(); ++b) {
          utf8_decoder decoder;
          auto joined = decoder.decode(text.substr(0, a));
          CHECK_FALSE(find_invalid_utf8(joined));
          joined += decoder.decode(text.substr(a, b - a));
          joined += decoder.decode(text.substr(b));
          joined += decoder.finish();
          CHECK(joined == whole);
        }
    }
  }

  TEST_CASE("§96 a character that can still be completed is kept back, one that cannot is not") {
    struct row {
      std::string text;
      std::size_t suffix;
    };
    for (const auto& row : std::vector<row>{{"", 0},
                                            {"a", 0},
                                            {"é", 0},
                                            {"\xC3", 1},
                                            {"a\xE2\x82", 2},
                                            {"\xF0\x9F\x98", 3},
                                            {"\xE0", 1},
                                            {"\xE0\x80", 0},
                                            {"\xED", 1},
                                            {"\xED\xA0", 0},
                                            {"\xF0", 1},
                                            {"\xF0\x80", 0},
                                            {"\xF4\x8F", 2},
                                            {"\xF4\x90", 0},
                                            {"\xC0", 0},
                                            {"\xFF", 0},
                                            {"\x80\x80", 0}}) {
      CAPTURE(row.text);
      CHECK(incomplete_utf8_suffix(row.text) == row.suffix);
    }
  }

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
