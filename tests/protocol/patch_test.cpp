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

  TEST_CASE("BR-186 inserted lines take the line ending of their neighbours") {
    CHECK(update("a\r\nb\r\nc\r\n", "@@\n a\n-b\n+x\n+y\n") == "a\r\nx\r\ny\r\nc\r\n");
    CHECK(update("a\r\nb\r\n", "@@\n+x\n") == "a\r\nb\r\nx\r\n");
    CHECK(update("a\nb\r\nc\n", "@@\n b\n+n\n") == "a\nb\r\nn\nc\n");
    CHECK(update("a\rb\r", "@@\n-a\n+A\n") == "A\rb\r");
    CHECK(update("a\r\nb\r\n", "@@\n-b\r\n+c\r\n") == "a\r\nc\r\n");
  }

  TEST_CASE(
      "BR-187 a patch with CRLF is read as one with LF, and other carriage returns are content") {
    const auto files = [](std::string_view text) {
      const auto parsed = parse_patch(text);
      REQUIRE_MESSAGE(parsed, parsed.error().message);
      return *parsed;
    };
    const std::string lf = "*** Begin Patch\n*** Add File: a\n+one\n+\n*** Delete File: d\n"
                           "*** Update File: u\n*** Move to: v\n@@ x\n-a\n b\n@@\n-c\n"
                           "*** End of File\n*** End Patch\n";
    std::string crlf;
    for (const char c : lf)
      crlf += c == '\n' ? "\r\n" : std::string(1, c);
    CHECK(files(crlf) == files(lf));
    CHECK(files("<<EOF\r\n" + crlf + "EOF\r\n") == files("<<EOF\n" + lf + "EOF\n"));
    const auto content = [&](std::string_view text) { return files(text).operations[0].content; };
    CHECK(content("*** Begin Patch\n*** Add File: a\n+one\r\n+two\n*** End Patch") ==
          "one\r\ntwo\n");
    CHECK(content("*** Begin Patch\r\n*** Add File: a\r\n+one\r\r\n*** End Patch\r\n") ==
          "one\r\n");
    CHECK(update("a\nb\n", "@@\n-b\n+b\r\n") == "a\nb\r\n");
    CHECK(files("*** Begin Patch\n*** Delete File: a\r\n*** End Patch\r\n").operations[0].path ==
          "a");
  }

  TEST_CASE("BR-193 chunks stand in file order, each below the one before, or nothing is changed") {
    const std::string block = "a\nb\n";
    CHECK(update(block + block + "end\n", "@@\n-a\n+A\n@@\n-a\n+AA\n") == "A\nb\nAA\nb\nend\n");
    for (const auto* body : {"@@\n-end\n+END\n@@\n-a\n+A\n",      // out of order
                             "@@\n a\n-b\n+B\n@@\n b\n-a\n+A\n"}) // context of the one before
      CHECK(update("a\nb\nend\n", body).find("do not stand in \"f\"") != std::string::npos);
  }

  TEST_CASE("BR-190 an error shows the line and what a patch looks like, for each usual wrapping") {
    const auto fails = [](std::string_view text, std::string_view what, std::string_view next) {
      const auto parsed = parse_patch(text);
      REQUIRE_FALSE(parsed);
      CAPTURE(to_string(parsed.error()));
      CHECK(parsed.error().message.find(what) != std::string::npos);
      CHECK(parsed.error().remedy.find(next) != std::string::npos);
      CHECK(parsed.error().remedy.find("*** Begin Patch\n") != std::string::npos);
    };
    const std::string good = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";
    fails(R"({"command":["apply_patch","*** Begin Patch\n"]})", "patch line 1", "this is JSON");
    fails("```\n" + good + "```\n", "found \"```\"", "leave the ``` lines out");
    fails("apply_patch <<'E'\n" + good + "E\n", "patch line 1", "the text of the patch alone");
    fails("*** Begin Patch\n*** Add File: a\n+x\n", "patch line 3", "a patch looks like");
    fails("*** Begin Patch\n*** Update File: a\n@@\n@@\n-x\n*** End Patch\n",
          "patch line 4: a line of a change starts with ` `, `-` or `+`, found \"@@\"", "");
    fails("*** Begin Patch\n*** End Patch\n", "the patch changes no file", "");
    fails("*** Begin Patch\n*** Update File: a\n*** End Patch\n", "patch line 2", "");
    fails("", "patch is empty", "");
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
