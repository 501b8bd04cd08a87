#include "reactor/delta_coalescer.hpp"

#include "protocol/utf8.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace gatehouse::reactor;
using namespace std::chrono_literals;

namespace {

constexpr auto out = output_stream::standard_output;
constexpr auto err = output_stream::standard_error;
constexpr clock::time_point start{};

std::vector<std::string> texts(const std::vector<output_delta>& deltas) {
  std::vector<std::string> all;
  for (const auto& d : deltas)
    all.push_back((d.stream == out ? "o:" : "e:") + d.bytes);
  return all;
}
using list = std::vector<std::string>;

} // namespace

TEST_SUITE("reactor.delta_coalescer") {
  TEST_CASE("§96 bytes wait 10 ms for company, then go as one delta") {
    delta_coalescer c{{}};
    CHECK(!c.due());
    c.append(out, "a", start);
    c.append(out, "b\n", start + 4ms);
    CHECK(c.due() == start + 10ms);
    CHECK(c.take(start + 9ms).empty());
    CHECK(texts(c.take(start + 10ms)) == list{"o:ab\n"});
    CHECK(!c.due());
    CHECK(c.take(start + 1h).empty());
  }

  TEST_CASE("§96 a full delta goes at once, and none is larger") {
    delta_coalescer c{{.bytes = 4}};
    c.append(out, "123456789", start);
    CHECK(texts(c.take(start)) == list{"o:1234", "o:5678", "o:9"});
  }

  TEST_CASE("§96 a delta may be larger than a full one, where its reader takes larger ones") {
    delta_coalescer c{{.bytes = 4}};
    c.set_largest(6);
    c.append(out, "123", start);
    CHECK(c.take(start).empty()); // as long as ever
    c.append(out, "456789", start);
    CHECK(texts(c.take(start)) == list{"o:123456", "o:789"});
    c.append(out, "12345", start);
    CHECK(texts(c.take(start)) == list{"o:12345"});
    c.set_largest(0);
    c.append(out, "12345", start);
    CHECK(texts(c.take(start)) == list{"o:1234", "o:5"});
  }

  TEST_CASE("§96 a delta of all that was adopted has its memory, also behind a begun character") {
    delta_coalescer c{{.bytes = 4, .largest = 1000}};
    std::string block(100, 'x');
    block.reserve(104);
    const auto* memory = block.data();
    c.adopt(out, std::move(block), start);
    auto taken = c.take(start);
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].bytes == std::string(100, 'x'));
    CHECK(taken[0].bytes.data() == memory);

    c.append(out, "\xc3", start);
    CHECK(c.take(start + 10ms).empty());
    block = std::move(taken[0].bytes);
    block.replace(0, 1, "\xa4");
    c.adopt(out, std::move(block), start);
    taken = c.take(start);
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].bytes == "\xc3\xa4" + std::string(99, 'x'));
    CHECK(taken[0].bytes.data() == memory);
  }

  TEST_CASE("§96 what is adopted is told as what is appended") {
    std::mt19937 random{7};
    for (int round = 0; round < 2000; ++round) {
      delta_limits limits{.bytes = 4, .largest = random() % 12, .terminal = random() % 2 == 0};
      delta_coalescer appended{limits}, adopted{limits};
      auto now = start;
      for (int i = 0; i < 12; ++i) {
        std::string bytes;
        for (auto n = random() % 9; n > 0; --n)
          bytes += "a\n\xc3\xa4\xe2\x82\xac"[random() % 7];
        const auto stream = random() % 3 == 0 ? err : out;
        appended.append(stream, bytes, now);
        adopted.adopt(stream, bytes, now);
        now += std::chrono::milliseconds{random() % 6};
        REQUIRE(adopted.due() == appended.due());
        REQUIRE(adopted.take(now) == appended.take(now));
      }
      REQUIRE(adopted.take_all() == appended.take_all());
    }
  }

  TEST_CASE("§96 a delta that takes all but a begun character leaves that for the next") {
    delta_coalescer c{{.bytes = 4}};
    c.set_largest(100);
    const std::string said(60, 'x');
    c.append(out, said + "\xc3", start);
    CHECK(texts(c.take(start)) == list{"o:" + said});
    CHECK(texts(delta_coalescer{c}.take_all()) == list{"o:\xc3"});
    CHECK(!c.due());
    c.append(out, "\xa4y", start);
    c.append(err, "z", start);
    CHECK(texts(c.take(start + 10ms)) == list{"o:\xc3\xa4y", "e:z"});
    CHECK(delta_coalescer{c}.take_all().empty());
    c.append(out, "\xc3", start);
    CHECK(c.take(start + 1h).empty());
    CHECK(texts(c.take_all()) == list{"o:\xc3"});
  }

  TEST_CASE("a terminal's line end goes soon, with the prompt after it; a pipe's waits") {
    delta_coalescer pipe{{}}, terminal{{.terminal = true}};
    for (auto* c : {&pipe, &terminal}) {
      c->append(out, "24 80\r\n42\r\n", start);
      c->append(out, "$ ", start + 1ms);
    }
    CHECK(terminal.due() == start + line_wait);
    CHECK(terminal.take(start + 1ms).empty());
    CHECK(pipe.take(start + line_wait).empty());
    CHECK(texts(terminal.take(start + line_wait)) == list{"o:24 80\r\n", "o:42\r\n$ "});
    CHECK(texts(pipe.take(start + 10ms)) == list{"o:24 80\r\n42\r\n$ "});
    terminal.append(out, "$ ", start + 20ms);
    CHECK(terminal.due() == start + 30ms);
  }

  TEST_CASE("much output of a terminal is not told line by line") {
    delta_coalescer c{{.terminal = true}};
    std::string text;
    for (int i = 0; i < 400; ++i)
      text += "line\r\n";
    c.append(out, text, start);
    CHECK(texts(c.take(start + line_wait)) == list{"o:" + text});
  }

  TEST_CASE("the streams keep the order in which they began") {
    delta_coalescer c{{}};
    c.append(err, "first", start);
    c.append(out, "second", start + 1ms);
    CHECK(texts(c.take(start + 11ms)) == list{"e:first", "o:second"});
    c.append(out, "third", start + 20ms);
    c.append(err, "fourth", start + 21ms);
    CHECK(texts(c.take_all()) == list{"o:third", "e:fourth"});
  }

  TEST_CASE("a full later stream takes the earlier one along") {
    delta_coalescer c{{.bytes = 4}};
    c.append(out, "x", start);
    c.append(err, "12345", start + 1ms);
    CHECK(texts(c.take(start + 1ms)) == list{"o:x", "e:1234", "e:5"});
  }

  TEST_CASE("a character is never cut: its beginning waits for its rest") {
    delta_coalescer c{{.bytes = 4}};
    c.append(out, "ab\xE2\x82", start);
    CHECK(texts(c.take(start + 10ms)) == list{"o:ab"});
    CHECK(!c.due());
    c.append(out, "\xAC!", start + 1h);
    CHECK(c.due() == start + 1h + 10ms);
    CHECK(texts(c.take(start + 2h)) == list{"o:€!"});
    c.append(out, "\xE2\x82", start);
    CHECK(c.take(start + 1h).empty());
    CHECK(texts(c.take_all()) == list{"o:\xE2\x82"});
  }

  TEST_CASE("§96 after the last delta bytes are only counted") {
    delta_coalescer c{{.bytes = 2, .deltas = 3}};
    c.append(out, "123456789", start);
    CHECK(texts(c.take_all()) == list{"o:12", "o:34", "o:56"});
    CHECK(c.unannounced_bytes() == 3);
  }

  TEST_CASE("§96 however it is cut and timed, nothing is lost, doubled or torn") {
    std::mt19937 random{11};
    const std::string alphabet[] = {"a", "\n", "é", "€", "😀", "\xFF", "\xE2\x82"};
    for (int round = 0; round < 300; ++round) {
      std::string text;
      for (int i = 0; i < 60; ++i)
        text += alphabet[random() % std::size(alphabet)];
      delta_coalescer c{{.bytes = 4 + random() % 9, .terminal = random() % 2 == 0}};
      std::string got;
      auto now = start;
      const auto keep = [&](const std::vector<output_delta>& deltas) {
        for (const auto& d : deltas) {
          CHECK(d.bytes.size() <= 13);
          got += d.bytes;
        }
      };
      for (std::string_view left = text; !left.empty();) {
        const auto n = std::min<std::size_t>(left.size(), 1 + random() % 7);
        c.append(out, left.substr(0, n), now);
        left.remove_prefix(n);
        now += std::chrono::milliseconds{random() % 15};
        keep(c.take(now));
      }
      keep(c.take_all());
      CHECK(got == text);
    }
  }
}
