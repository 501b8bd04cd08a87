#include "tests/reactor/process_fixture.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace gatehouse::reactor::test;
using namespace std::chrono_literals;

TEST_SUITE("reactor.process_input") {
  TEST_CASE("standard input is written in order, reports when it is taken, and ends") {
    event_loop loop;
    auto request = shell("cat");
    request.input = stdin_mode::pipe;
    auto r = start(loop, request);
    const std::string big(300'000, 'x');
    REQUIRE(r->child->write_stdin(big));
    REQUIRE(r->child->write_stdin("tail"));
    CHECK(r->child->pending_input() > 0);
    REQUIRE(loop.run_until([&] { return r->order.find('d') != std::string::npos; }, hang_guard));
    CHECK(r->child->pending_input() == 0);
    r->child->close_stdin();
    const auto late = r->child->write_stdin("late");
    REQUIRE_FALSE(late);
    CHECK(late.error().code == errc::invalid_request);
    REQUIRE(finish(loop, *r));
    CHECK(r->out == big + "tail");
  }

  TEST_CASE("closing standard input ends it only after what is queued") {
    event_loop loop;
    auto request = shell("cat | wc -c");
    request.input = stdin_mode::pipe;
    auto r = start(loop, request);
    REQUIRE(r->child->write_stdin(std::string(500'000, 'x')));
    r->child->close_stdin();
    REQUIRE(finish(loop, *r));
    CHECK(std::stoi(r->out) == 500'000);
  }

  TEST_CASE("more input than the limit is refused whole while the child does not read") {
    event_loop loop;
    auto request = shell("sleep 600");
    request.input = stdin_mode::pipe;
    process_limits limits;
    limits.pending_input = 100'000;
    auto r = start(loop, request, limits);
    REQUIRE(r->child->write_stdin(std::string(90'000, 'x')));
    const auto refused = r->child->write_stdin(std::string(20'000, 'x'));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::too_large);
    CHECK(r->child->pending_input() == 90'000);
  }

  TEST_CASE("a reader that goes away is a normal end of standard input") {
    event_loop loop;
    pipe_pair gone;
    auto request = shell("exec 0<&-; echo closed; read line <&3; exit 6");
    request.input = stdin_mode::pipe;
    request.pass_fds = {{gone.read_end.get(), 3}};
    auto r = start(loop, request);
    REQUIRE(loop.run_until([&] { return r->out == "closed\n"; }, hang_guard));
    REQUIRE(r->child->write_stdin("nobody reads this"));
    loop.poll();
    CHECK(r->child->pending_input() == 0);
    CHECK_FALSE(r->child->write_stdin("more"));
    gone.write_end.reset();
    REQUIRE(finish(loop, *r));
    CHECK(r->exit->code == 6);
  }

  TEST_CASE("BR-156 without input a child reads the end of it at once") {
    event_loop loop;
    auto r = start(loop, shell("cat; echo done"));
    REQUIRE(finish(loop, *r));
    CHECK(r->out == "done\n");
    CHECK_FALSE(r->child->write_stdin("x"));
  }
}
