#include "actors/hooked_call.hpp"

#include "reactor/timer.hpp"
#include "tests/actors/hosted_thread.hpp"
#include "tests/support/run_program.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;

namespace {

hook_handler hook(hook_event event, std::string command) {
  hook_handler h;
  h.event = event;
  h.command = std::move(command);
  h.where = "hooks.json";
  return h;
}

/// A thread with hooks, whose helper is a script that prints the words it was told to run.
struct hooked_host : scripted_terms {
  std::shared_ptr<event_recorder> heard = std::make_shared<event_recorder>();

  explicit hooked_host(std::vector<hook_handler> handlers)
      : scripted_terms{R"(echo '{"event":"started"}' >&3
echo "ran: $*"
: > "${0%/*}/ran"
echo '{"event":"exited","exit_code":0}' >&3)"} {
    terms.hooks.rules = *hook_rules::compile(std::move(handlers));
    terms.hooks.place = {tests::built("gatehouse-sandbox"), folder.path(), {"PATH=/usr/bin:/bin"}};
  }

  call_report run(std::vector<std::string> argv, approval_mode mode = approval_mode::on_request) {
    terms.session.approval.mode = mode;
    return scripted_terms::run(argv_request(std::move(argv)), heard);
  }
  [[nodiscard]] bool ran() const { return std::filesystem::exists(folder / "ran"); }
};

using enum hook_event;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string rewrites_to(const std::string& command) {
  return R"(cat > /dev/null; echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse",)"
         R"("permissionDecision":"allow","updatedInput":{"command":")" +
         command + R"("}}}')";
}

} // namespace

TEST_SUITE("actors.hooked_call") {
  TEST_CASE("§D8 a PreToolUse denial refuses the call before any rule, and nothing runs") {
    hooked_host host{{hook(pre_tool_use, "echo never here >&2; exit 2")}};
    const auto report = host.run({"make"});
    CHECK(report.ending == call_ending::refused);
    CHECK(report.evaluation.requirement.refused_by == refused_by::hook);
    CHECK(has(report.message, "Refused by a hook of the user: never here."));
    CHECK(exit_status(report) == 125);
    CHECK_FALSE(host.ran());
  }

  TEST_CASE("§D8 a PreToolUse hook that crashes blocks; with on_failure continue it only warns") {
    hooked_host blocking{{hook(pre_tool_use, "exit 1")}};
    CHECK(blocking.run({"make"}).ending == call_ending::refused);
    CHECK_FALSE(blocking.ran());
    auto lax = hook(pre_tool_use, "exit 1");
    lax.on_failure = hook_failure::continue_on;
    hooked_host going_on{{lax}};
    CHECK(going_on.run({"make"}).ending == call_ending::completed);
    CHECK(going_on.ran());
    CHECK(going_on.heard->warnings().size() == 1);
  }

  TEST_CASE("§10 what a hook wrote is what is judged, reported and run") {
    hooked_host host{{hook(pre_tool_use, rewrites_to("echo other"))}};
    const auto report = host.run({"bash", "-c", "make"});
    REQUIRE(report.evaluation.segments.size() == 1);
    CHECK(report.evaluation.segments[0].argv == std::vector<std::string>{"echo", "other"});
    CHECK(has(report.output.stdout_text, "-- bash -c echo other"));
  }

  TEST_CASE("§2 a rewriting into something forbidden is forbidden") {
    hooked_host host{{hook(pre_tool_use, rewrites_to("rm -rf no-such-thing"))}};
    const auto report = host.run({"bash", "-c", "ls"}, approval_mode::never);
    CHECK(report.ending == call_ending::refused);
    CHECK(report.evaluation.requirement.refused_by == refused_by::policy);
    CHECK_FALSE(host.ran());
  }

  TEST_CASE("§124 a PostToolUse denial takes the output away from the model") {
    hooked_host host{{hook(post_tool_use, "grep -q 'ran: ' && echo secret inside >&2; exit 2")}};
    const auto report = host.run({"make"});
    CHECK(report.ending == call_ending::completed);
    CHECK(host.ran());
    CHECK(report.output.stdout_text.empty());
    CHECK(report.output.aggregated.empty());
    CHECK(report.message == "secret inside");
  }

  TEST_CASE("contexts of hooks before and after are told to the model") {
    const auto says = [](hook_event event, const std::string& text) {
      return hook(event, R"(cat > /dev/null; echo '{"hookSpecificOutput":{"hookEventName":")" +
                             std::string{to_string(event)} + R"(","additionalContext":")" + text +
                             R"("}}')");
    };
    hooked_host host{{says(pre_tool_use, "before"), says(post_tool_use, "after")}};
    const auto report = host.run({"make"});
    CHECK(report.message == "before\nafter");
    CHECK(has(report.output.stdout_text, "ran: "));
  }

  TEST_CASE("what never ran is shown to no PostToolUse hook") {
    hooked_host host{{hook(pre_tool_use, "exit 2"), hook(post_tool_use, ": > seen")}};
    CHECK(host.run({"make"}).ending == call_ending::refused);
    CHECK_FALSE(std::filesystem::exists(host.folder / "seen"));
  }

  TEST_CASE("§48 §D8 a PermissionRequest hook may answer the first question, not the retry") {
    hooked_host host{{hook(permission_request,
                           R"(cat > /dev/null; echo '{"hookSpecificOutput":{"hookEventName":)"
                           R"("PermissionRequest","decision":{"behavior":"allow"}}}')")}};
    const auto report = host.run({"make"}, approval_mode::untrusted);
    REQUIRE(report.reviews.size() == 1);
    CHECK(report.reviews[0].reviewer == reviewer_kind::hook);
    CHECK(host.ran());
  }

  TEST_CASE("§124 a call that is stopped while its result is looked at shows no result") {
    hooked_host host{{hook(post_tool_use, ": > looking; sleep 1000")}};
    thread_host calls;
    const auto thread = calls.open(host.terms);
    // The hook makes no event of the loop: a timer looks for it.
    reactor::timer look{calls.loop()};
    bool stop = false;
    const std::function<void()> again = [&] {
      stop = std::filesystem::exists(host.folder / "looking");
      if (!stop) look.start(std::chrono::milliseconds{5}, again);
    };
    again();
    const auto report =
        **calls.run(thread, {"call-1", {}, argv_request({"make"})}, [&] { return stop; });
    CHECK(report.output.aggregated.empty());
    CHECK(report.message.find("cancelled") != std::string::npos);
    CHECK(report.ending == call_ending::aborted); // it was told as one that had gone well
    CHECK(report.attempts.size() == 1);
  }

  TEST_CASE("§127 a stop that comes before the call has begun is not lost, with hooks or without") {
    for (const bool hooked : {true, false}) {
      hooked_host host{hooked ? std::vector{hook(pre_tool_use, "true")}
                              : std::vector<hook_handler>{}};
      thread_host calls;
      const auto thread = calls.open(host.terms);
      const auto report =
          **calls.run(thread, {"call-1", {}, argv_request({"make"})}, [] { return true; });
      CHECK(report.ending == call_ending::aborted);
      CHECK_FALSE(host.ran());
    }
  }

  TEST_CASE("§D11 §127 a call that is stopped while its hooks are asked never runs") {
    hooked_host host{{hook(pre_tool_use, "sleep 1000")}};
    thread_host calls;
    const auto thread = calls.open(host.terms);
    bool stop = false;
    calls.loop().post([&] { stop = true; });
    const auto report =
        **calls.run(thread, {"call-1", {}, argv_request({"make"})}, [&] { return stop; });
    CHECK(report.ending == call_ending::aborted);
    CHECK(exit_status(report) == 120);
    CHECK_FALSE(host.ran());
  }
}
