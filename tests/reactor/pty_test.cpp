#include "tests/reactor/process_fixture.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace gatehouse::reactor::test;
using namespace std::chrono_literals;

namespace {

spawn_request terminal(std::string script) {
  auto r = shell(std::move(script));
  r.input = stdin_mode::pty;
  r.output = output_mode::pty;
  return r;
}

bool shows(event_loop& loop, recorded& r, std::string_view text) {
  return loop.run_until([&] { return r.out.find(text) != std::string::npos; }, hang_guard);
}

} // namespace

TEST_SUITE("reactor.pty") {
  TEST_CASE("§119 a child with a terminal sees one, echoes, and its end is the end of output") {
    event_loop loop;
    auto r =
        start(loop, terminal("test -t 0 -a -t 1 -a -t 2 && echo tty; read x; echo got $x; exit 8"));
    REQUIRE(shows(loop, *r, "tty"));
    REQUIRE(r->child->write_stdin("word\n"));
    REQUIRE(finish(loop, *r));
    CHECK(r->out == "tty\r\nword\r\ngot word\r\n");
    CHECK(r->err.empty());
    CHECK(r->exit->code == 8);
    CHECK_FALSE(r->end->drain_cut);
  }

  TEST_CASE("the terminal is the child's controlling one: /dev/tty opens and Ctrl-C interrupts") {
    event_loop loop;
    auto r = start(loop, terminal("echo via-tty > /dev/tty; trap 'echo int; exit 9' INT; "
                                  "echo ready; while :; do sleep 0.01; done"));
    REQUIRE(shows(loop, *r, "ready"));
    CHECK(r->out.starts_with("via-tty"));
    REQUIRE(r->child->write_stdin("\x03"));
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->code == 9);
  }

  TEST_CASE("the terminal has the size asked for, and a new one is announced") {
    event_loop loop;
    auto request = terminal("trap 'stty size; exit 0' WINCH; stty size; echo ready; "
                            "while :; do sleep 0.01; done");
    request.terminal = {50, 132};
    auto r = start(loop, request);
    REQUIRE(shows(loop, *r, "ready"));
    CHECK(r->out.starts_with("50 132\r\n"));
    r->child->resize({10, 40});
    REQUIRE(finish(loop, *r));
    CHECK(r->out.ends_with("10 40\r\n"));
  }

  TEST_CASE("closing a terminal's input gives the reader an end of file and keeps the output") {
    event_loop loop;
    auto r = start(loop, terminal("cat; echo after"));
    REQUIRE(r->child->write_stdin("line\n"));
    r->child->close_stdin();
    CHECK_FALSE(r->child->write_stdin("late"));
    REQUIRE(finish(loop, *r));
    CHECK(r->out.ends_with("after\r\n"));
  }

  TEST_CASE("BR-139 a background child that holds the terminal does not hide the exit") {
    auto time = std::make_shared<manual_clock>();
    event_loop loop{time};
    auto r = start(loop, terminal("trap '' HUP; sleep 600 & printf done"));
    REQUIRE(loop.run_until([&] { return r->exit && r->out == "done"; }, hang_guard));
    time->advance(2s);
    REQUIRE(r->end);
    CHECK(r->end->drain_cut);
  }

  TEST_CASE("much output of a terminal arrives whole") {
    event_loop loop;
    auto r = start(loop, terminal("head -c 3000000 /dev/zero | tr '\\0' x"));
    REQUIRE(finish(loop, *r));
    CHECK(r->out.size() == 3'000'000);
  }

  TEST_CASE("BR-138 terminals leave no descriptor behind") {
    event_loop loop;
    loop.poll();
    const auto before = open_descriptors();
    for (int i = 0; i < 100; ++i) {
      auto r = start(loop, terminal("true"));
      REQUIRE(finish(loop, *r));
      REQUIRE(open_descriptors() == before);
    }
  }
}
