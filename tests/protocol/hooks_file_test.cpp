#include "protocol/hooks_file.hpp"

#include <doctest/doctest.h>

#include <tuple>

using namespace gatehouse;

namespace {

result<std::vector<hook_handler>> read(std::string_view text) {
  return decode_hooks_file(text, "hooks.json");
}

} // namespace

TEST_SUITE("protocol.hooks_file") {
  TEST_CASE("handlers come typed, in the order of the file, each with its place") {
    const auto handlers = read(R"({"hooks":{
      "PreToolUse":[{"matcher":"Bash","hooks":[
          {"type":"command","command":"a","timeout":5,"on_failure":"continue"},
          {"type":"command","command":"b","statusMessage":"looks","async":false}]}],
      "PermissionRequest":[{"hooks":[{"type":"command","command":"c"}]}]}})");
    REQUIRE(handlers);
    REQUIRE(handlers->size() == 3);
    const auto& [a, b, c] = std::tie((*handlers)[0], (*handlers)[1], (*handlers)[2]);
    CHECK(a.event == hook_event::pre_tool_use);
    CHECK(a.matcher == "Bash");
    CHECK(a.timeout == std::chrono::seconds{5});
    CHECK(a.on_failure == hook_failure::continue_on);
    CHECK(a.where == "hooks.json /hooks/PreToolUse/0/hooks/0");
    CHECK(b.timeout == std::chrono::seconds{600});
    CHECK(b.on_failure == hook_failure::block);
    CHECK(c.event == hook_event::permission_request);
    CHECK(c.matcher.empty());
    CHECK(read(R"({"hooks":{}})")->empty());
  }

  TEST_CASE("what is not understood is an error with its place, never a hook left out") {
    struct row {
      const char* text;
      const char* part;
    };
    const row rows[] = {
        {"", "byte 0"},
        {R"({})", "`hooks` is missing"},
        {R"({"hooks":{},"x":1})", "/x"},
        {R"({"hooks":{"PreTooluse":[]}})", "/hooks/PreTooluse"},
        {R"({"hooks":{"Stop":[]}})", "not an event that is run here"},
        {R"({"hooks":{"PreToolUse":{}}})", "expected an array"},
        {R"({"hooks":{"PreToolUse":[{}]}})", "/hooks/PreToolUse/0"},
        {R"({"hooks":{"PreToolUse":[{"matcher":1,"hooks":[]}]}})", "matcher"},
        {R"({"hooks":{"PreToolUse":[{"hooks":[{"command":"a"}]}]}})", "`type` is missing"},
        {R"({"hooks":{"PreToolUse":[{"hooks":[{"type":"prompt","command":"a"}]}]}})", "`command`"},
        {R"({"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":" "}]}]}})", "empty"},
        {R"({"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"a","timeout":0}]}]}})",
         "from 1 to 86400"},
        {R"({"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"a","timeout":1.5}]}]}})",
         "whole number"},
        {R"({"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"a","async":true}]}]}})",
         "decides nothing"},
        {R"({"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"a",
          "on_failure":"allow"}]}]}})",
         "`block`, `continue`"},
        {R"({"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"a","if":"x"}]}]}})",
         "/hooks/PreToolUse/0/hooks/0/if"},
        {R"({"hooks":{"PreToolUse":[],"PreToolUse":[]}})", "stands twice"},
    };
    for (const auto& r : rows) {
      const auto handlers = read(r.text);
      REQUIRE_MESSAGE(!handlers.has_value(), r.text);
      CHECK(handlers.error().code == errc::invalid_config);
      CHECK_MESSAGE(handlers.error().message.find(r.part) != std::string::npos,
                    handlers.error().message);
    }
  }
}
