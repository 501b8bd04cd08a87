#include "protocol/hook_json.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

using namespace gatehouse;

namespace {

using enum hook_event;

result<hook_answer> answer(hook_event event, std::string_view text) {
  return decode_hook_answer(event, text, "hook 1");
}

boost::json::object payload_of(const hook_payload& payload) {
  const auto line = encode_hook_payload(payload);
  CHECK(line.find('\n') == line.size() - 1);
  return boost::json::parse(line).as_object();
}

} // namespace

TEST_SUITE("protocol.hook_json") {
  TEST_CASE("§10 the payload names the event, the call and the command as people read it") {
    hook_payload payload;
    payload.session_id = "s";
    payload.turn_id = "t";
    payload.cwd = "/repo";
    payload.tool_name = "Bash";
    payload.tool_use_id = "call-1";
    payload.tool_input = hook_command_input{"echo \"x\"\nrm y", {}};
    const auto json = payload_of(payload);
    CHECK(json.at("hook_event_name") == "PreToolUse");
    CHECK(json.at("tool_use_id") == "call-1");
    CHECK(json.at("transcript_path").is_null());
    CHECK(json.at("tool_input").at("command") == "echo \"x\"\nrm y");
    CHECK_FALSE(json.at("tool_input").as_object().contains("description"));
    CHECK_FALSE(json.contains("tool_response"));
  }

  TEST_CASE("§D5 a hook was not told that it is asked about leaving the sandbox, or about more") {
    hook_payload payload;
    payload.tool_input = hook_command_input{"make", {}};
    payload.asked = hook_wishes{sandbox_permissions::require_escalated, {}, "needs it"};
    payload.event = permission_request;
    payload.reason = "the agent asks";
    payload.without_sandbox = true;
    auto json = payload_of(payload);
    CHECK(json.at("sandbox_permissions") == "require_escalated");
    CHECK(json.at("justification") == "needs it");
    CHECK(json.at("reason") == "the agent asks");
    CHECK(json.at("without_sandbox") == true);
    CHECK_FALSE(json.contains("additional_permissions"));

    payload.event = pre_tool_use;
    payload.asked->sandbox_permissions = sandbox_permissions::with_additional_permissions;
    payload.asked->additional_permissions.emplace();
    payload.asked->additional_permissions->network_enabled = true;
    json = payload_of(payload);
    CHECK(json.at("sandbox_permissions") == "with_additional_permissions");
    CHECK(json.at("additional_permissions").at("network").at("enabled") == true);
    CHECK_FALSE(json.contains("without_sandbox"));
  }

  TEST_CASE("a permission request carries its description and no call id, PostToolUse the result") {
    hook_payload payload;
    payload.event = permission_request;
    payload.tool_use_id = "call-1";
    payload.tool_input = hook_command_input{"make", "it builds"};
    CHECK_FALSE(payload_of(payload).contains("tool_use_id"));
    CHECK(payload_of(payload).at("tool_input").at("description") == "it builds");
    payload.event = post_tool_use;
    payload.tool_response = "bad \xff";
    CHECK(payload_of(payload).at("tool_response") == "bad \uFFFD");
    payload.tool_input = hook_stdin_input{7, "q\n", "call-0"};
    CHECK(payload_of(payload).at("tool_input").at("session_id") == 7);
    hook_permissions_input permissions{"needs it", {}};
    permissions.permissions.network_enabled = true;
    payload.tool_input = permissions;
    CHECK(payload_of(payload).at("tool_input").at("permissions").at("network").at("enabled") ==
          true);
  }

  TEST_CASE("nothing and {} are no opinion at every event") {
    for (const auto event : {pre_tool_use, permission_request, post_tool_use})
      for (const char* text : {"", " \n", "{}", " {} \n"}) {
        const auto a = answer(event, text);
        REQUIRE(a);
        CHECK(*a == hook_answer{});
      }
  }

  TEST_CASE("PreToolUse may deny, rewrite and add, in both forms") {
    auto a = answer(pre_tool_use, R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",
      "permissionDecision":"deny","permissionDecisionReason":"not on a Friday"}})");
    REQUIRE(a);
    CHECK(a->verdict == hook_verdict::deny);
    CHECK(a->reason == "not on a Friday");
    a = answer(pre_tool_use, R"({"decision":"block","reason":"no"})");
    REQUIRE(a);
    CHECK(a->verdict == hook_verdict::deny);
    CHECK(a->reason == "no");
    a = answer(pre_tool_use, R"({"systemMessage":"hm","hookSpecificOutput":{
      "hookEventName":"PreToolUse","permissionDecision":"allow",
      "updatedInput":{"command":"ls"},"additionalContext":"it was changed"}})");
    REQUIRE(a);
    CHECK(a->verdict == hook_verdict::none);
    CHECK(a->rewritten == "ls");
    CHECK(a->context == "it was changed");
    CHECK(a->warning == "hm");
  }

  TEST_CASE("§2 a PreToolUse allow approves nothing") {
    const auto a = answer(pre_tool_use, R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",
      "permissionDecision":"allow"}})");
    REQUIRE(a);
    CHECK(a->verdict == hook_verdict::none);
  }

  TEST_CASE("PermissionRequest may allow or deny") {
    const auto a = answer(permission_request, R"({"hookSpecificOutput":{
      "hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}})");
    REQUIRE(a);
    CHECK(a->verdict == hook_verdict::allow);
    const auto d = answer(permission_request, R"({"hookSpecificOutput":{
      "hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}})");
    REQUIRE(d);
    CHECK(d->verdict == hook_verdict::deny);
    CHECK(d->reason == "no");
  }

  TEST_CASE("PostToolUse may replace the result or stop") {
    auto a = answer(post_tool_use, R"({"decision":"block","reason":"hidden"})");
    REQUIRE(a);
    CHECK(a->verdict == hook_verdict::deny);
    CHECK(a->reason == "hidden");
    a = answer(post_tool_use, R"({"continue":false,"stopReason":"enough"})");
    REQUIRE(a);
    CHECK(a->verdict == hook_verdict::deny);
    CHECK(a->reason == "enough");
  }

  TEST_CASE("§D8 BR-176 an answer that is not understood wholly is an error, whatever it says") {
    struct row {
      hook_event event;
      const char* text;
    };
    const row rows[] = {
        {permission_request, R"({"decision":"ask"})"},
        {permission_request, R"({"decision":"allow"})"},
        {permission_request, R"({"decision":{"behavior":"allow"}})"},
        {permission_request, R"({"hookSpecificOutput":{"hookEventName":"PermissionRequest",
          "decision":{"behavior":"alow"}}})"},
        {permission_request, R"({"hookSpecificOutput":{"hookEventName":"PermissionRequest",
          "decision":{"behavior":"Allow"}}})"},
        {permission_request, R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",
          "decision":{"behavior":"allow"}}})"},
        {permission_request, R"({"hookSpecificOutput":{"decision":{"behavior":"allow"}}})"},
        {permission_request, R"({"hookSpecificOutput":{"hookEventName":"PermissionRequest",
          "decision":{"behavior":"deny","behavior":"allow"}}})"},
        {permission_request, R"({"hookSpecificOutput":{"hookEventName":"PermissionRequest",
          "decision":{"behavior":"allow","updatedInput":{"command":"ls"}}}})"},
        {permission_request, R"({"hookSpecificOutput":{"hookEventName":"PermissionRequest",
          "decision":{"behavior":"allow","interrupt":true}}})"},
        {permission_request, R"({"continue":false,"hookSpecificOutput":{"hookEventName":
          "PermissionRequest","decision":{"behavior":"allow"}}})"},
        {permission_request, "[]"},
        {permission_request, "yes"},
        {permission_request, R"("allow")"},
        {permission_request, R"(ok {"hookSpecificOutput":{"hookEventName":"PermissionRequest",
          "decision":{"behavior":"allow"}}})"},
        {pre_tool_use, R"({"decision":"approve"})"},
        {pre_tool_use, R"({"decision":"ask","reason":"x"})"},
        {pre_tool_use, R"({"reason":"x"})"},
        {pre_tool_use, R"({"continue":false})"},
        {pre_tool_use, R"({"suppressOutput":true})"},
        {pre_tool_use, R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",
          "permissionDecision":"ask"}})"},
        {pre_tool_use, R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",
          "updatedInput":{"command":"ls"}}})"},
        {pre_tool_use, R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",
          "permissionDecision":"deny","updatedInput":{"command":"ls"}}})"},
        {pre_tool_use, R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",
          "permissionDecision":"allow","updatedInput":{"command":["ls"]}}})"},
        {pre_tool_use, R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",
          "permissionDecision":"allow","updatedInput":{"command":""}}})"},
        {pre_tool_use, R"({"hookSpecificOutput":{"hookEventName":"PreToolUse",
          "permissionDecision":"allow","updatedInput":{"command":"ls\u0000rm"}}})"},
        {pre_tool_use, R"({"hookSpecificOutput":{"hookEventName":"PostToolUse",
          "permissionDecision":"deny"}})"},
        {post_tool_use, R"({"updatedMCPToolOutput":"x"})"},
        {post_tool_use, R"({"continue":"false"})"},
        {post_tool_use, R"({"stopReason":"x"})"},
    };
    for (const auto& r : rows) {
      const auto a = answer(r.event, r.text);
      CHECK_MESSAGE(!a.has_value(), r.text);
      if (!a) CHECK(a.error().message.find("the answer of hook 1") == 0);
    }
  }
}
