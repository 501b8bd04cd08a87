#include "actors/hook_outcome.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

using enum hook_event;
using run = reactor::exchange_end;

run exits(int code, std::string out = {}, std::string err = {}) {
  run r;
  r.how = run::ending::exited;
  r.code = code;
  r.out = std::move(out);
  r.err = std::move(err);
  return r;
}

run ends(run::ending how, int code = 0) {
  run r;
  r.how = how;
  r.code = code;
  r.why = "no such file";
  return r;
}

const std::string allow = R"({"hookSpecificOutput":{"hookEventName":"PermissionRequest",
  "decision":{"behavior":"allow"}}})";
const std::string deny = R"({"hookSpecificOutput":{"hookEventName":"PermissionRequest",
  "decision":{"behavior":"deny","message":"no"}}})";

std::string rewrite(const std::string& command) {
  return R"({"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",
    "updatedInput":{"command":")" +
         command + R"("}}})";
}

hook_decision weigh(hook_event event, std::vector<run> runs, bool retry = false,
                    std::vector<hook_failure> failures = {}) {
  std::vector<hook_handler> handlers(runs.size());
  for (std::size_t i = 0; i < handlers.size(); ++i) {
    handlers[i].event = event;
    handlers[i].where = "hook " + std::to_string(i);
    if (i < failures.size()) handlers[i].on_failure = failures[i];
  }
  return weigh_hooks(event, handlers, runs, retry);
}

/// Every way to fail: what it prints would allow if it counted.
std::vector<run> failures() {
  auto crashed = ends(run::ending::signalled, 11);
  crashed.out = allow;
  auto late = ends(run::ending::timed_out, 9);
  late.out = allow;
  auto flood = exits(0, allow);
  flood.too_much = true;
  return {exits(1, allow),
          exits(127, allow),
          exits(-1, allow),
          exits(0, "{"),
          exits(0, "[]"),
          exits(0, R"({"decision":"ask"})"),
          exits(0, R"({"decision":"alow"})"),
          exits(0, "yes"),
          crashed,
          late,
          flood,
          ends(run::ending::not_started)};
}

} // namespace

TEST_SUITE("actors.hook_outcome") {
  TEST_CASE("§48 one well-formed allow allows, one denial denies, nothing leaves it open") {
    CHECK(weigh(permission_request, {exits(0, allow)}).verdict == hook_verdict::allow);
    const auto no = weigh(permission_request, {exits(0, deny)});
    CHECK(no.verdict == hook_verdict::deny);
    CHECK(no.reason == "no");
    CHECK(weigh(permission_request, {exits(0)}).verdict == hook_verdict::none);
    CHECK(weigh(permission_request, {exits(0, "{}")}).warnings.empty());
    CHECK(weigh(permission_request, {}) == hook_decision{});
  }

  TEST_CASE("exit status 2 denies with standard error as its text, whatever was printed") {
    for (const auto event : {pre_tool_use, permission_request, post_tool_use}) {
      const auto no = weigh(event, {exits(2, allow, " never on main \n")});
      CHECK(no.verdict == hook_verdict::deny);
      CHECK(no.reason == "never on main");
      CHECK(weigh(event, {exits(2)}).verdict == hook_verdict::deny);
      CHECK_FALSE(weigh(event, {exits(2)}).reason.empty());
    }
  }

  TEST_CASE("§D8 a hook that fails blocks a PreToolUse and hides a result, with a warning") {
    for (const auto event : {pre_tool_use, post_tool_use})
      for (const auto& failed : failures()) {
        const auto d = weigh(event, {failed});
        CHECK(d.verdict == hook_verdict::deny);
        CHECK(d.warnings.size() == 1);
        CHECK(d.reason.find("hook 0") != std::string::npos);
      }
  }

  TEST_CASE(
      "§D8 BR-176 a hook that fails passes a permission request on, also past another's allow") {
    for (const auto& failed : failures()) {
      const auto alone = weigh(permission_request, {failed});
      CHECK(alone.verdict == hook_verdict::none);
      CHECK(alone.warnings.size() == 1);
      CHECK(weigh(permission_request, {failed, exits(0, allow)}).verdict == hook_verdict::none);
      CHECK(weigh(permission_request, {exits(0, allow), failed}).verdict == hook_verdict::none);
      CHECK(weigh(permission_request, {failed, exits(0, deny)}).verdict == hook_verdict::deny);
    }
  }

  TEST_CASE("§D8 on_failure continue is as if the hook were not there, but for the warning") {
    for (const auto& failed : failures()) {
      const auto d = weigh(pre_tool_use, {failed}, false, {hook_failure::continue_on});
      CHECK(d.verdict == hook_verdict::none);
      CHECK(d.warnings.size() == 1);
      CHECK(weigh(permission_request, {failed, exits(0, allow)}, false, {hook_failure::continue_on})
                .verdict == hook_verdict::allow);
    }
  }

  TEST_CASE("§D8 at a retry a hook may only deny") {
    const auto yes = weigh(permission_request, {exits(0, allow)}, true);
    CHECK(yes.verdict == hook_verdict::none);
    CHECK(yes.warnings.size() == 1);
    CHECK(weigh(permission_request, {exits(0, deny)}, true).verdict == hook_verdict::deny);
  }

  TEST_CASE("a denial wins whatever the order, and the first of the configuration is told") {
    CHECK(weigh(permission_request, {exits(0, allow), exits(0, deny)}).verdict ==
          hook_verdict::deny);
    const auto both = weigh(permission_request, {exits(2, {}, "first"), exits(0, deny)});
    CHECK(both.reason == "first");
  }

  TEST_CASE("one rewriting counts, equal ones agree, contradicting ones deny") {
    CHECK(weigh(pre_tool_use, {exits(0), exits(0, rewrite("ls"))}).rewritten == "ls");
    CHECK(weigh(pre_tool_use, {exits(0, rewrite("ls")), exits(0, rewrite("ls"))}).rewritten ==
          "ls");
    const auto d = weigh(pre_tool_use, {exits(0, rewrite("ls")), exits(0, rewrite("rm x"))});
    CHECK(d.verdict == hook_verdict::deny);
    CHECK_FALSE(d.rewritten);
    CHECK(d.reason.find("hook 0 and hook 1") == 0);
    CHECK_FALSE(weigh(pre_tool_use, {exits(0, rewrite("ls")), exits(2)}).rewritten);
  }

  TEST_CASE("contexts and warnings come in the order of the configuration, bounded and valid") {
    const auto d =
        weigh(pre_tool_use, {exits(0, R"({"systemMessage":"w0","hookSpecificOutput":{
                            "hookEventName":"PreToolUse","additionalContext":"c0"}})"),
                             exits(1, {}, "w1\xff"), exits(2, {}, std::string(50'000, 'x'))});
    CHECK(d.contexts == std::vector<std::string>{"c0"});
    REQUIRE(d.warnings.size() == 2);
    CHECK(d.warnings[0] == "w0");
    CHECK(d.warnings[1].find("hook 1: exit status 1: w1\uFFFD") == 0);
    CHECK(d.reason.find("hook 1") != std::string::npos);
    const auto longer = weigh(pre_tool_use, {exits(2, {}, std::string(50'000, 'x'))});
    CHECK(longer.reason.size() < 10'100);
  }
}
