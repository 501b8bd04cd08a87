#include "actors/hook_rules.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

hook_handler handler(std::string matcher, std::string command = "true",
                     hook_event event = hook_event::pre_tool_use) {
  hook_handler h;
  h.event = event;
  h.matcher = std::move(matcher);
  h.command = std::move(command);
  h.where = "hooks.json /hooks/PreToolUse/0/hooks/0";
  return h;
}

bool hears(const std::string& matcher, hook_tool tool) {
  const auto rules = hook_rules::compile({handler(matcher)});
  REQUIRE_MESSAGE(rules.has_value(), matcher);
  return !rules->matching(hook_event::pre_tool_use, tool).empty();
}

} // namespace

TEST_SUITE("actors.hook_rules") {
  TEST_CASE("a matcher that is absent or a star hears of every tool") {
    for (const char* matcher : {"", "*", ".*"})
      for (const auto tool :
           {hook_tool::shell_command, hook_tool::exec_command, hook_tool::apply_patch,
            hook_tool::write_stdin, hook_tool::request_permissions, hook_tool::network_access})
        CHECK(hears(matcher, tool));
  }

  TEST_CASE("a list of names is exact and cares for case; anything else is an expression") {
    CHECK(hears("Bash", hook_tool::shell_command));
    CHECK(hears("Bash", hook_tool::exec_command));
    CHECK_FALSE(hears("exec_command", hook_tool::shell_command));
    CHECK(hears("Edit|Bash", hook_tool::apply_patch));
    CHECK(hears("Write", hook_tool::apply_patch));
    CHECK_FALSE(hears("Edit|Write", hook_tool::shell_command));
    CHECK(hears("^Bash$", hook_tool::exec_command));
    CHECK(hears("apply_.*", hook_tool::apply_patch));
    CHECK_FALSE(hears("apply_.*", hook_tool::shell_command));
  }

  TEST_CASE("BR-176 a matcher that can never fire is an error with its place, not a silent hole") {
    for (const char* matcher :
         {"bash", "Ba", "MultiEdit", "Bash|", "Bash|Shell", "(", "^bash$", "mcp__x", "[z-a]"}) {
      const auto rules = hook_rules::compile({handler(matcher)});
      REQUIRE_MESSAGE(!rules.has_value(), matcher);
      CHECK(rules.error().code == errc::invalid_config);
      CHECK(rules.error().message.find("hooks.json /hooks/PreToolUse/0/hooks/0: matcher `") == 0);
    }
    CHECK_FALSE(hook_rules::compile({handler(std::string(5000, '('))}).has_value());
  }

  TEST_CASE("the hooks of one event come in the order of the configuration") {
    const auto rules =
        hook_rules::compile({handler("", "first"), handler("", "other", hook_event::post_tool_use),
                             handler("apply_patch", "patches"), handler("Bash", "second")});
    REQUIRE(rules);
    const auto found = rules->matching(hook_event::pre_tool_use, hook_tool::shell_command);
    REQUIRE(found.size() == 2);
    CHECK(found[0].command == "first");
    CHECK(found[1].command == "second");
    CHECK(hook_rules{}.matching(hook_event::pre_tool_use, hook_tool::shell_command).empty());
    CHECK(hook_rules{}.empty());
    CHECK_FALSE(rules->empty());
  }

  TEST_CASE("the name in a payload is the first of the tool's names") {
    CHECK(tool_name(hook_tool::shell_command) == "Bash");
    CHECK(tool_name(hook_tool::exec_command) == "Bash");
    CHECK(tool_name(hook_tool::apply_patch) == "apply_patch");
  }
}
