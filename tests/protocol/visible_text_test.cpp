#include "protocol/shell_quote.hpp"
#include "protocol/visible_text.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace gatehouse;

TEST_SUITE("protocol.visible_text") {
  TEST_CASE("§204 plain text in any language is shown as it is") {
    for (const auto* text : {"", "make test", "a\tb\nc", "Grüße, 世界 👍"}) {
      CAPTURE(text);
      CHECK(shows_as_it_is(text));
      CHECK(visible_text(text) == text);
    }
  }

  TEST_CASE("§204 what would hide, move or turn text is written out") {
    const std::pair<const char*, const char*> rows[] = {
        {"\x1b[2K", "\\x1b[2K"},
        {"a\rb", "a\\x0db"},
        {"\x7f", "\\x7f"},
        {"\xc2\x9b", "\\u009b"},         // CSI in one character
        {"\xe2\x80\xae", "\\u202e"},     // right-to-left override
        {"\xe2\x81\xa6", "\\u2066"},     // isolate
        {"x\xe2\x80\x8bx", "x\\u200bx"}, // zero width
        {"\xef\xbb\xbf", "\\ufeff"},
        {"\xf3\xa0\x81\x81", "\\U000e0041"}, // tag letter
        {"\xc2\xa0", "\\u00a0"},             // a blank that no shell splits at
        {"\xff\xfe", "\\xff\\xfe"},
        {"\xc0\xaf", "\\xc0\\xaf"},          // overlong
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, // surrogate
        {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
        {"\xe2\x80", "\\xe2\\x80"}, // cut off
    };
    for (const auto& [text, wanted] : rows) {
      const auto& shown = wanted; // clang 14 captures no structured binding
      CAPTURE(shown);
      CHECK_FALSE(shows_as_it_is(text));
      CHECK(visible_text(text) == wanted);
    }
    CHECK(visible_text(std::string_view{"a\0b", 3}) == "a\\x00b");
  }

  TEST_CASE("§204 a line of what was typed passed for one of ours") {
    CHECK(visible_lines("a\nb\x1b\n", "  ") == "a\n  b\\x1b\n  ");
    CHECK(visible_error({errc::io, "no `x\n  next: y`", "z\nz"}) ==
          "no `x\n      next: y`\n  next: z\n    z");
  }

  TEST_CASE("§204 a stranger's name is one bounded line, and no escape in it is torn") {
    CHECK(visible_line("good.example", 255) == "good.example");
    CHECK(visible_line("", 255).empty());
    CHECK(visible_line("a\nb\tc\rd\x1b[2J", 255) == "a\\x0ab\\x09c\\x0dd\\x1b[2J");
    CHECK(visible_line("\\x0a", 255) == "\\\\x0a"); // not a newline
    CHECK(visible_line("\xff\xe2\x80\xae", 255) == "\\xff\\u202e");
    CHECK(visible_line("12345678", 8) == "12345678");
    CHECK(visible_line("123456789", 8) == "12345\xE2\x80\xA6");
    CHECK(visible_line("1234\n56789", 8) == "1234\xE2\x80\xA6");
    CHECK(visible_line("1234\xc3\xbc"
                       "56789",
                       8) == "1234\xE2\x80\xA6");
    for (const auto* part : {"a", "\n", "\xf3\xa0\x81\x81", "\xff", "\\"}) {
      std::string text;
      while (text.size() < 60'000)
        text += part;
      const auto line = visible_line(text, 255);
      CHECK(line.size() <= 255);
      CHECK(line.size() > 240);
      CHECK(line.ends_with("\xE2\x80\xA6"));
      CHECK(shows_as_it_is(line));
    }
  }

  TEST_CASE("§10 §204 a quoted word reads back as exactly itself, or is written out") {
    CHECK(shell_quote("make") == "make");
    CHECK(shell_quote("") == "''");
    CHECK(shell_quote("a b") == "'a b'");
    CHECK(shell_quote("it's") == "'it'\\''s'");
    CHECK(shell_quote("$(x)") == "'$(x)'");
    CHECK(shell_quote("a\x1b'\\") == "$'a\\x1b\\'\\\\'");
    CHECK(shell_quote("rm\xe2\x80\xae") == "$'rm\\u202e'");
  }
}
