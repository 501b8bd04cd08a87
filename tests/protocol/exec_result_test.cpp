#include "protocol/base64.hpp"
#include "protocol/exec_result.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gatehouse;

TEST_SUITE("protocol.exec_result") {
  TEST_CASE("BR-159 the end of long output is kept, and what is missing is counted in tokens") {
    const std::string text =
        std::string(50'000, 'a') + "\n" + std::string(50'000, 'b') + "\nFINAL ERROR\n";
    const auto cut = truncate_to_tokens(text, 2560).text;
    CHECK(cut.starts_with("Warning: truncated output (original token count: 25004)\n"
                          "Total output lines: 3\n\naaaa"));
    CHECK(cut.ends_with("bb\nFINAL ERROR\n"));
    CHECK(cut.find("…22444 tokens truncated…") != std::string::npos);
    const auto already = truncate_to_tokens(text, 2560, 200'000, 77).text;
    CHECK(already.find("(original token count: 50000)") != std::string::npos);
    CHECK(already.find("... 77 bytes omitted ...\n\naaaa") != std::string::npos);
  }

  TEST_CASE("BR-160 what the token limit leaves out is counted, not only what the buffer did") {
    const std::string text(1000, 'x');
    const auto cut = truncate_to_tokens(text, 100, 2000, 77);
    CHECK(cut.left_out == 600);
    CHECK(std::count(cut.text.begin(), cut.text.end(), 'x') == 400);
    CHECK(truncate_to_tokens(text, 250, 2000, 77).left_out == 0);
    CHECK(truncate_to_tokens(text, 0).left_out == 1000);
  }

  TEST_CASE("§96 a cut never tears a character, whatever the budget") {
    std::string text;
    for (int i = 0; i < 40; ++i)
      text += "a€é😀";
    for (std::uint64_t tokens = 0; tokens < 110; ++tokens) {
      const auto [cut, left_out] = truncate_to_tokens(text, tokens);
      CHECK((left_out == 0) == (cut == text));
      CHECK(left_out <= text.size());
      CHECK(cut.find("\xEF\xBF\xBD") == std::string::npos);
      CHECK((tokens >= 100) == (cut == text));
    }
    CHECK(truncate_to_tokens(text, 0).text == "…100 tokens truncated…");
    CHECK(truncate_to_tokens("", 0).text.empty());
    CHECK(truncate_to_tokens(text, ~0ull).text == text);
  }

  TEST_CASE("base64 gives every byte back and accepts nothing but its own form") {
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
      CHECK(decode_base64(encode_base64(bytes)) == bytes);
      bytes += static_cast<char>(i * 37);
    }
    CHECK(encode_base64("hello\n") == "aGVsbG8K");
    CHECK(encode_base64("x") == "eA==");
    CHECK(decode_base64("") == std::string{});
    for (const auto* bad : {"e", "eA=", "eA", "e===", "====", "eB==", "eA==eA==", "e A=", "aGVs\n"})
      CHECK_MESSAGE(!decode_base64(bad), bad);
  }
}
