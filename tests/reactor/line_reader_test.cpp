#include "reactor/line_reader.hpp"

#include "tests/reactor/process_fixture.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace gatehouse::reactor::test;

namespace {

struct heard {
  std::vector<std::string> lines;
  std::optional<result<void>> end;
  line_listener listener() {
    return {.on_line = [this](std::string_view line) { lines.emplace_back(line); },
            .on_end = [this](const result<void>& how) { end = how; }};
  }
};

void write(const unique_fd& fd, std::string_view text) {
  REQUIRE(::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

} // namespace

TEST_SUITE("reactor.line_reader") {
  TEST_CASE("lines arrive whole however they were written") {
    event_loop loop;
    pipe_pair pipe;
    heard h;
    auto reader = line_reader::open(loop, std::move(pipe.read_end), h.listener());
    write(pipe.write_end, "one\n\ntw");
    CHECK(loop.run_until([&] { return h.lines.size() == 2; }, hang_guard));
    write(pipe.write_end, "o\nthree\n");
    pipe.write_end.reset();
    REQUIRE(loop.run_until([&] { return h.end.has_value(); }, hang_guard));
    CHECK(h.lines == std::vector<std::string>{"one", "", "two", "three"});
    CHECK(h.end->has_value());
  }

  TEST_CASE("a line that was cut off is an error and never handed on") {
    event_loop loop;
    pipe_pair pipe;
    heard h;
    auto reader = line_reader::open(loop, std::move(pipe.read_end), h.listener());
    write(pipe.write_end, "whole\n{\"half\":");
    pipe.write_end.reset();
    REQUIRE(loop.run_until([&] { return h.end.has_value(); }, hang_guard));
    CHECK(h.lines == std::vector<std::string>{"whole"});
    REQUIRE_FALSE(*h.end);
    CHECK(h.end->error().code == errc::invalid_request);
  }

  TEST_CASE("a line beyond the limit ends the reading, at the limit exactly") {
    for (const std::size_t length : {100U, 101U}) {
      event_loop loop;
      pipe_pair pipe;
      heard h;
      auto reader = line_reader::open(loop, std::move(pipe.read_end), h.listener(), 100);
      write(pipe.write_end, std::string(length, 'x') + "\nnext\n");
      pipe.write_end.reset();
      REQUIRE(loop.run_until([&] { return h.end.has_value(); }, hang_guard));
      CHECK(h.end->has_value() == (length == 100));
      CHECK(h.lines.size() == (length == 100 ? 2 : 0));
      if (!*h.end) CHECK(h.end->error().code == errc::too_large);
    }
  }

  TEST_CASE(
      "BR-197 a line beyond the limit does not end a conversation: it comes cut, the next whole") {
    event_loop loop;
    pipe_pair pipe;
    heard h;
    auto reader =
        line_reader::open(loop, std::move(pipe.read_end), h.listener(), 100, long_line::is_cut);
    write(pipe.write_end, std::string(10'000, 'x') + "\nnext\n" + std::string(100, 'y') + "\n");
    pipe.write_end.reset();
    REQUIRE(loop.run_until([&] { return h.end.has_value(); }, hang_guard));
    CHECK(h.lines ==
          std::vector<std::string>{std::string(101, 'x'), "next", std::string(100, 'y')});
    CHECK(h.end->has_value());
  }

  TEST_CASE("a paused reader hands on nothing, loses nothing, and sees that its writer has gone") {
    event_loop loop;
    pipe_pair pipe;
    heard h;
    std::unique_ptr<line_reader> reader;
    auto listener = h.listener();
    listener.on_line = [&](std::string_view line) {
      h.lines.emplace_back(line);
      if (line == "two") reader->pause();
    };
    reader = line_reader::open(loop, std::move(pipe.read_end), listener);
    write(pipe.write_end, "one\ntwo\nthree\nfo");
    CHECK(loop.run_until([&] { return h.lines.size() == 2; }, hang_guard));
    CHECK_FALSE(reader->hung_up());
    write(pipe.write_end, "ur\n");
    pipe.write_end.reset();
    loop.poll();
    CHECK(reader->hung_up());
    CHECK(h.lines == std::vector<std::string>{"one", "two"});
    CHECK_FALSE(h.end);
    reader->resume();
    reader->pause();
    loop.poll();
    CHECK(h.lines.size() == 2);
    reader->resume();
    REQUIRE(loop.run_until([&] { return h.end.has_value(); }, hang_guard));
    CHECK(h.lines == std::vector<std::string>{"one", "two", "three", "four"});
    CHECK(h.end->has_value());
  }

  TEST_CASE("an owner may destroy the reader from a line, and hears nothing after it") {
    event_loop loop;
    pipe_pair pipe;
    heard h;
    std::unique_ptr<line_reader> reader;
    auto listener = h.listener();
    listener.on_line = [&](std::string_view line) {
      h.lines.emplace_back(line);
      reader.reset();
    };
    reader = line_reader::open(loop, std::move(pipe.read_end), listener);
    write(pipe.write_end, "one\ntwo\n");
    pipe.write_end.reset();
    CHECK(loop.run_until([&] { return !reader; }, hang_guard));
    loop.poll();
    CHECK(h.lines == std::vector<std::string>{"one"});
    CHECK_FALSE(h.end);
  }

  TEST_CASE("a child reports on a pipe of its own beside its output") {
    event_loop loop;
    pipe_pair pipe;
    heard h;
    auto request = shell("echo report >&9; echo output; echo again >&9");
    request.pass_fds = {{pipe.write_end.get(), 9}};
    auto reader = line_reader::open(loop, std::move(pipe.read_end), h.listener());
    auto r = start(loop, request);
    pipe.write_end.reset();
    REQUIRE(finish(loop, *r));
    REQUIRE(loop.run_until([&] { return h.end.has_value(); }, hang_guard));
    CHECK(h.lines == std::vector<std::string>{"report", "again"});
    CHECK(r->out == "output\n");
  }
}
