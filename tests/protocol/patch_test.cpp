#include "protocol/patch.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;

namespace {

std::string update(std::string_view original, std::string_view body) {
  const auto parsed =
      parse_patch("*** Begin Patch\n*** Update File: f\n" + std::string{body} + "*** End Patch\n");
  REQUIRE_MESSAGE(parsed, parsed.error().message);
  const auto patched = apply_chunks(original, parsed->operations.at(0).chunks, "f");
  return patched ? patched->content : "error: " + patched.error().message;
}

std::string parse_error(std::string_view text) {
  const auto parsed = parse_patch(text);
  return parsed ? "" : parsed.error().message;
}

} // namespace

TEST_SUITE("protocol.patch") {
  TEST_CASE("§D16 lines inserted under an anchor go right below the anchor's line") {
    CHECK(update("a\nb\nc\n", "@@ a\n+x\n") == "a\nx\nb\nc\n");
    CHECK(update("a\nb\nc\n", "@@\n+x\n") == "a\nb\nc\nx\n");
  }

  TEST_CASE("§D16 context lines that match only tolerantly keep the file's own bytes") {
    CHECK(update("if x:\n    a  \n    b\n", "@@\n a\n-    b\n+    c\n") ==
          "if x:\n    a  \n    c\n");
  }

  TEST_CASE("inserted lines take the line ending of their neighbours") {
    CHECK(update("a\r\nb\r\nc\r\n", "@@\n a\n-b\n+x\n+y\n") == "a\r\nx\r\ny\r\nc\r\n");
    CHECK(update("a\r\nb\r\n", "@@\n+x\n") == "a\r\nb\r\nx\r\n");
    CHECK(update("a\nb\r\nc\n", "@@\n b\n+n\n") == "a\nb\r\nn\nc\n");
    CHECK(update("a\rb\r", "@@\n-a\n+A\n") == "A\rb\r");
  }

  TEST_CASE("a carriage return inside a line of a LF file is content") {
    CHECK(update("50%\r100%\nend\n", "@@\n-end\n+END\n") == "50%\r100%\nEND\n");
  }

  TEST_CASE("a byte order mark stays and does not hide the first line") {
    CHECK(update("\xEF\xBB\xBF"
                 "a\nb\n",
                 "@@\n-a\n+A\n") == "\xEF\xBB\xBF"
                                    "A\nb\n");
  }

  TEST_CASE("an unfinished last line gets its ending when something follows it or not") {
    CHECK(update("a\r\nb", "@@\n+c\n") == "a\r\nb\r\nc\r\n");
    CHECK(update("a\nb", "@@\n-a\n+A\n") == "A\nb\n");
  }

  TEST_CASE("an error names the line of the patch and shows what stands there") {
    CHECK(parse_error("") == "patch line 1: the patch is empty");
    CHECK(parse_error("*** Begin Patch\n*** Add File: a\n+x") ==
          "patch line 3: expected `*** End Patch` as the last line, found \"+x\"");
    CHECK(parse_error("*** Begin Patch\n*** Update File: a\njunk\n*** End Patch") ==
          "patch line 3: a line of a change starts with ` `, `-` or `+`, found \"junk\"");
    CHECK(parse_error("*** Begin Patch\n*** Update File: a\n@@\n*** End Patch") ==
          "patch line 3: the chunk has no lines");
    CHECK(update("a\n", "@@\n-zzz\n+y\n").find("patch line 3: these lines do not stand in \"f\"") !=
          std::string::npos);
  }

  TEST_CASE("a control character in a patch is escaped in the error") {
    CHECK(parse_error("\x1b[2J") ==
          "patch line 1: expected `*** Begin Patch`, found \"\\u001b[2J\"");
  }
}
