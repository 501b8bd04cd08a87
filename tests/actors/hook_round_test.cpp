#include "actors/hook_round.hpp"
#include "tests/reactor/process_fixture.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

using reactor::test::hang_guard;

hook_question question(hook_event event, std::vector<std::string> commands,
                       const std::string& cwd = "/") {
  hook_question q;
  q.payload.event = event;
  q.payload.cwd = "/no-such-folder";
  q.payload.tool_name = "Bash";
  q.payload.tool_input = hook_command_input{"make", {}};
  q.place = {tests::built("gatehouse-sandbox"), cwd, {"PATH=/usr/bin:/bin", "MARK=set"}};
  for (auto& command : commands) {
    hook_handler h;
    h.event = event;
    h.command = std::move(command);
    h.where = "hook " + std::to_string(q.handlers.size());
    q.handlers.push_back(std::move(h));
  }
  return q;
}

hook_decision ask(hook_question q) {
  reactor::event_loop loop;
  std::optional<hook_decision> decision;
  const hook_round round{loop, std::move(q), [&](hook_decision d) { decision = std::move(d); }};
  CHECK_FALSE(decision);
  REQUIRE(loop.run_until([&] { return decision.has_value(); }, hang_guard));
  return *decision;
}

constexpr auto permission = hook_event::permission_request;

} // namespace

TEST_SUITE("actors.hook_round") {
  TEST_CASE("§48 a hook reads the payload in its folder and environment, and its answer counts") {
    const tests::temp_folder folder;
    const auto d = ask(question(permission,
                                {"cat > seen; test \"$MARK\" = set && echo '{\"hookSpecificOutput\""
                                 ":{\"hookEventName\":\"PermissionRequest\","
                                 "\"decision\":{\"behavior\":\"allow\"}}}'"},
                                folder.path()));
    CHECK(d.verdict == hook_verdict::allow);
    CHECK(folder.read("seen").find("\"hook_event_name\":\"PermissionRequest\"") !=
          std::string::npos);
  }

  TEST_CASE("§D8 the first in the configuration is told, not the first to finish") {
    const tests::temp_folder folder;
    // The second finishes first: the first waits for it.
    const auto d = ask(question(
        permission,
        {"until test -e done; do :; done; echo one >&2; exit 2", "echo two >&2; : > done; exit 2"},
        folder.path()));
    CHECK(d.verdict == hook_verdict::deny);
    CHECK(d.reason == "one");
  }

  TEST_CASE("no hooks, no opinion") {
    CHECK(ask(question(permission, {})) == hook_decision{});
  }

  TEST_CASE("§D8 missing, crashing, flooding and silent programs fail as they should") {
    for (const char* command : {"/nonexistent/hook", "kill -9 $$", "exit 1", "echo '{'",
                                "head -c 3000000 /dev/zero", "yes"}) {
      const auto d = ask(question(hook_event::pre_tool_use, {command}));
      CHECK_MESSAGE(d.verdict == hook_verdict::deny, command);
      CHECK_MESSAGE(d.warnings.size() == 1, command);
    }
    CHECK(ask(question(hook_event::pre_tool_use, {"true"})).verdict == hook_verdict::none);
    CHECK(ask(question(hook_event::pre_tool_use, {"exec <&-; true"})) == hook_decision{});
  }

  TEST_CASE("§D8 a working folder that is gone is a failure, not a hole") {
    const auto d = ask(question(hook_event::pre_tool_use, {"true"}, "/nonexistent"));
    CHECK(d.verdict == hook_verdict::deny);
  }

  TEST_CASE("§D8 §99a a hook that hangs ends with its whole tree at its time limit") {
    const tests::temp_folder folder;
    const auto fifo = folder / "started";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    auto time = std::make_shared<reactor::manual_clock>();
    reactor::event_loop loop{time};
    auto q =
        question(hook_event::pre_tool_use, {"sleep 1000 & echo $! > started; wait"}, folder.path());
    q.handlers[0].timeout = std::chrono::seconds{7};
    std::optional<hook_decision> decision;
    const hook_round round{loop, std::move(q), [&](hook_decision d) { decision = std::move(d); }};
    pid_t grandchild = 0;
    std::ifstream{fifo} >> grandchild;
    REQUIRE(grandchild > 0);
    time->advance(std::chrono::seconds{7});
    REQUIRE(loop.run_until([&] { return decision.has_value(); }, hang_guard));
    CHECK(decision->verdict == hook_verdict::deny);
    CHECK(decision->reason.find("no answer within 7 s") != std::string::npos);
    CHECK(reactor::test::wait_gone(grandchild));
  }

  TEST_CASE("a round that is given up is never heard of again") {
    reactor::event_loop loop;
    bool called = false;
    {
      const hook_round round{loop, question(permission, {"exit 2", "/nonexistent", "sleep 1000"}),
                             [&](const hook_decision&) { called = true; }};
    }
    loop.poll();
    CHECK_FALSE(called);
  }

  TEST_CASE("a payload larger than a pipe reaches the hook whole") {
    auto q = question(hook_event::pre_tool_use, {"test $(wc -c) -gt 3000000 || exit 1"});
    q.payload.tool_input = hook_command_input{std::string(3'000'000, 'x'), {}};
    CHECK(ask(std::move(q)).verdict == hook_verdict::none);
  }
}
