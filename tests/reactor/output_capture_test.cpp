#include "reactor/output_capture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace gatehouse::reactor;

namespace {

constexpr auto out = output_stream::standard_output;
constexpr auto err = output_stream::standard_error;

std::string numbers(int last) {
  std::string text;
  for (int i = 1; i <= last; ++i)
    text += std::to_string(i) + "\n";
  return text;
}

/// Feeds `text` in chunks of `size`.
head_tail_buffer fed(std::size_t capacity, std::string_view text, std::size_t size) {
  head_tail_buffer buffer{capacity};
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size())))
    buffer.append(text.substr(0, size));
  return buffer;
}

} // namespace

TEST_SUITE("reactor.output_capture") {
  TEST_CASE("§96 the beginning and the end are kept, and what is missing is counted") {
    struct row {
      std::size_t capacity;
      std::string text;
      std::string expected;
      std::uint64_t bytes;
      std::uint64_t lines;
    };
    const std::vector<row> rows = {
        {8, "", "", 0, 0},
        {8, "12345678", "12345678", 0, 0},
        {8, "123456789", "1234\n[... 1 bytes omitted, 0 line ends among them ...]\n6789", 1, 0},
        {8, "abc\nd\ne\nwxyz", "abc\n[... 4 bytes omitted, 2 line ends among them ...]\nwxyz", 4,
         2},
        // The cut falls into é on both sides.
        {8, "abcé-mid-éxyz", "abc\n[... 9 bytes omitted, 0 line ends among them ...]\nxyz", 9, 0},
        {8,
         "ab\xFF"
         "d-mid-x\xFFyz",
         "ab\xEF\xBF\xBD"
         "d\n[... 5 bytes omitted, 0 line ends among them ...]\nx\xEF\xBF\xBDyz",
         5, 0},
        {8, "abc\xE2\x82\xAC!", "abc€!", 0, 0},
    };
    for (const auto& row : rows)
      for (const std::size_t chunk : {1U, 2U, 3U, 5U, 100U}) {
        CAPTURE(row.text);
        CAPTURE(chunk);
        const auto buffer = fed(row.capacity, row.text, chunk);
        const auto text = buffer.render();
        CHECK(text.value == row.expected);
        CHECK(text.omitted_bytes == row.bytes);
        CHECK(text.omitted_lines == row.lines);
        CHECK(buffer.total_bytes() == row.text.size());
      }
  }

  TEST_CASE("BR-160 two million lines are counted to the byte") {
    const auto text = numbers(2'000'000);
    REQUIRE(text.size() == 14'888'896);
    output_capture capture;
    for (std::size_t at = 0; at < text.size(); at += 16'384)
      capture.append(out, std::string_view{text}.substr(at, 16'384));
    CHECK(capture.total_bytes() == text.size());
    const auto kept = capture.output();
    CHECK(kept.truncated_bytes == text.size() - 1024 * 1024);
    CHECK(kept.stdout_text == kept.aggregated);
    CHECK(kept.stdout_text.starts_with("1\n2\n3\n"));
    CHECK(kept.stdout_text.ends_with("1999999\n2000000\n"));
    CHECK(kept.stdout_text.find(std::to_string(kept.truncated_bytes) + " bytes omitted") !=
          std::string::npos);
  }

  TEST_CASE("BR-159 a few very long lines do not hide the error at the end") {
    output_capture capture{{.bytes = 10'240}};
    capture.append(out, std::string(50'000, 'a') + "\n" + std::string(50'000, 'b') + "\n");
    capture.append(err, "FINAL ERROR\n");
    CHECK(capture.output().aggregated.ends_with("FINAL ERROR\n"));
    CHECK(capture.output().stderr_text == "FINAL ERROR\n");
  }

  TEST_CASE("§96 the aggregate keeps the order of arrival and never splits a character between "
            "streams") {
    output_capture capture;
    capture.append(out, "a\xE2\x82");
    capture.append(err, "E\xC3");
    capture.append(out, "\xACz");
    capture.append(err, "\xA9");
    const auto kept = capture.output();
    CHECK(kept.aggregated == "aE€zé");
    CHECK(kept.stdout_text == "a€z");
    CHECK(kept.stderr_text == "Eé");
    CHECK(kept.truncated_bytes == 0);
  }

  TEST_CASE("§96 deltas join to the text that was written, unfinished characters included") {
    output_capture capture;
    std::string joined;
    const std::string text = "é€\xE2\x82";
    for (const char c : text)
      if (const auto delta = capture.append(out, {&c, 1})) {
        CHECK_FALSE(delta->empty());
        joined += *delta;
      }
    CHECK(joined == "é€");
    joined += capture.finish(out).value_or("");
    CHECK(joined == "é€\xEF\xBF\xBD\xEF\xBF\xBD");
    CHECK_FALSE(capture.finish(out));
    CHECK(capture.output().aggregated == joined);
  }

  TEST_CASE("§96 after 10,000 deltas of a call no more are announced, yet all is kept") {
    output_capture capture;
    std::size_t announced = 0;
    for (int i = 0; i < 12'000; ++i)
      announced += capture.append(i % 2 == 0 ? out : err, "x").has_value();
    CHECK(announced == 10'000);
    CHECK(capture.output().aggregated.size() == 12'000);
  }

  TEST_CASE("§123 BR-166 what is taken is not given again, whatever a poll cuts") {
    std::string text;
    for (int i = 0; i < 200; ++i)
      text += "a€\n";
    for (const std::size_t chunk : {1U, 2U, 3U, 7U, 64U})
      for (const std::size_t capacity : {8U, 64U, 10'000U}) {
        head_tail_buffer buffer{capacity};
        std::uint64_t omitted = 0, kept = 0;
        std::string all;
        for (std::string_view left = text; !left.empty();
             left.remove_prefix(std::min(chunk, left.size()))) {
          buffer.append(left.substr(0, chunk));
          const auto piece = buffer.take();
          omitted += piece.omitted_bytes;
          if (piece.omitted_bytes == 0) kept += piece.value.size();
          all += piece.value;
          CHECK(buffer.total_bytes() < 4);
        }
        const auto last = buffer.take();
        CHECK(last.value.empty());
        CHECK(all.find("\xEF\xBF\xBD") == std::string::npos);
        if (omitted == 0) CHECK(all == text);
        if (capacity == 10'000U) CHECK(kept == text.size());
      }
  }

  TEST_CASE("§123 a taken buffer counts what its own piece left out") {
    head_tail_buffer buffer{8};
    buffer.append("123456789012");
    CHECK(buffer.take().omitted_bytes == 4);
    buffer.append("abcd");
    const auto second = buffer.take();
    CHECK(second.value == "abcd");
    CHECK(second.omitted_bytes == 0);
  }

  TEST_CASE("§96 bytes that did not come are counted as missing, not forgotten") {
    output_capture capture;
    (void)capture.append(output_stream::standard_output, "kept\n");
    capture.lose(1000);
    const auto got = capture.output();
    CHECK(got.stdout_text == "kept\n");
    CHECK(got.truncated_bytes == 1000);
    CHECK(got.aggregate_omitted_bytes == 1000);
    CHECK(got.total_bytes == 1005);
  }

  TEST_CASE("§96 line ends are counted wherever they stand") {
    for (const std::size_t size : {1, 7, 8, 9, 63, 2039, 2040, 2041, 5000}) {
      std::string text(size, '\n');
      for (std::size_t i = 0; i < size; i += 3)
        text[i] = static_cast<char>("\x0b\x8a\x00\xff"[i % 4]);
      head_tail_buffer buffer{2};
      buffer.append("ab" + text);
      const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
      CHECK(buffer.render().omitted_lines == lines - (text.back() == '\n' ? 1 : 0));
    }
  }

  TEST_CASE("§127 reading on after a count of bytes leaves no gap and tears no character") {
    head_tail_buffer buffer{12};
    buffer.append("ab\xC3");
    auto piece = buffer.render_after(0);
    CHECK(piece.value == "ab");
    CHECK(piece.next == 2);
    buffer.append("\xBC"
                  "cd");
    piece = buffer.render_after(piece.next);
    CHECK(piece.value == "\xC3\xBC"
                         "cd");
    CHECK((piece.from == 2 && piece.next == 6));
    CHECK(buffer.render_after(6).value.empty());
    CHECK(buffer.render_after(99).from == 6); // never beyond what there is
    buffer.append("0123456789");
    piece = buffer.render_after(6); // what came between is no longer kept
    CHECK(piece.value == "456789");
    CHECK((piece.from == 10 && piece.next == 16));
    CHECK(buffer.render_after(12).from == 12);
    head_tail_buffer torn{4};
    torn.append("abc\xE2\x82\xAC");
    CHECK(torn.render_after(0).from == 6);
    CHECK(torn.render_after(0).value.empty());
  }
}
