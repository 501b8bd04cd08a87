#include "protocol/hook_json.hpp"

#include "protocol/json_writer.hpp"
#include "protocol/profile_json.hpp"

namespace gatehouse {
namespace {

struct input_writer {
  json_writer& json;

  void operator()(const hook_command_input& input) const {
    json.field("command", input.command);
    if (!input.description.empty()) json.field("description", input.description);
  }
  void operator()(const hook_stdin_input& input) const {
    json.key("session_id");
    json.number(input.session_id);
    json.field("chars", input.chars);
    json.field("parent_call_id", input.parent_call_id);
  }
  void operator()(const hook_permissions_input& input) const {
    json.field("reason", input.reason);
    json.key("permissions");
    json.raw(encode_additional_permissions(input.permissions));
  }
};

/// Reads `hookSpecificOutput` of a PreToolUse answer.
result<void> read_pre_tool_use(const json_node& node, hook_answer& answer) {
  const auto fields =
      node.object({"hookEventName", "permissionDecision", "permissionDecisionReason",
                   "updatedInput", "additionalContext"});
  if (!fields) return fields.error();
  bool allowed = false;
  if (const auto decision = fields->find("permissionDecision")) {
    const auto word = decision->word({"allow", "deny"});
    if (!word) return word.error();
    allowed = *word == 0;
    if (!allowed) answer.verdict = hook_verdict::deny;
  }
  auto reason = fields->optional_text("permissionDecisionReason");
  if (!reason) return reason.error();
  if (!reason->empty()) answer.reason = *std::move(reason);
  if (const auto updated = fields->find("updatedInput")) {
    if (!allowed) return updated->wrong("a rewriting needs permissionDecision `allow`");
    const auto input = updated->object({"command", "description"});
    if (!input) return input.error();
    const auto place = input->need("command");
    if (!place) return place.error();
    auto command = place->text();
    if (!command) return command.error();
    if (command->empty()) return place->wrong("an empty command");
    answer.rewritten = *std::move(command);
  }
  auto context = fields->optional_text("additionalContext");
  if (!context) return context.error();
  answer.context = *std::move(context);
  return {};
}

/// Reads `hookSpecificOutput` of a PermissionRequest answer.
result<void> read_permission_request(const json_node& node, hook_answer& answer) {
  const auto fields = node.object({"hookEventName", "decision"});
  if (!fields) return fields.error();
  const auto place = fields->find("decision");
  if (!place) return {};
  const auto decision = place->object({"behavior", "message"});
  if (!decision) return decision.error();
  const auto behavior = decision->need("behavior");
  if (!behavior) return behavior.error();
  const auto word = behavior->word({"allow", "deny"});
  if (!word) return word.error();
  answer.verdict = *word == 0 ? hook_verdict::allow : hook_verdict::deny;
  auto message = decision->optional_text("message");
  if (!message) return message.error();
  answer.reason = *std::move(message);
  return {};
}

/// Reads `hookSpecificOutput` of a PostToolUse answer.
result<void> read_post_tool_use(const json_node& node, hook_answer& answer) {
  const auto fields = node.object({"hookEventName", "additionalContext"});
  if (!fields) return fields.error();
  auto context = fields->optional_text("additionalContext");
  if (!context) return context.error();
  answer.context = *std::move(context);
  return {};
}

result<void> read_specific(hook_event event, const json_node& node, hook_answer& answer) {
  const auto fields = node.open_object();
  if (!fields) return fields.error();
  const auto name = fields->need("hookEventName");
  if (!name) return name.error();
  if (const auto word = name->word({to_string(event)}); !word) return word.error();
  switch (event) {
  case hook_event::pre_tool_use: return read_pre_tool_use(node, answer);
  case hook_event::permission_request: return read_permission_request(node, answer);
  case hook_event::post_tool_use: return read_post_tool_use(node, answer);
  }
  return node.wrong("unknown event");
}

/// The fields on the outside: the older way to object, and what holds for every event.
result<void> read_common(hook_event event, const json_fields& fields, hook_answer& answer) {
  auto warning = fields.optional_text("systemMessage");
  if (!warning) return warning.error();
  answer.warning = *std::move(warning);
  auto reason = fields.optional_text("reason");
  if (!reason) return reason.error();

  if (const auto decision = fields.find("decision")) {
    if (event == hook_event::permission_request)
      return decision->wrong("a permission request is answered in hookSpecificOutput");
    if (const auto word = decision->word({"block"}); !word) return word.error();
    answer.verdict = hook_verdict::deny;
    answer.reason = *reason;
  } else if (!reason->empty()) {
    return fields.wrong("a reason without a decision");
  }

  auto stop_reason = fields.optional_text("stopReason");
  if (!stop_reason) return stop_reason.error();
  if (const auto go_on = fields.find("continue")) {
    const auto yes = go_on->boolean();
    if (!yes) return yes.error();
    if (!*yes) {
      if (event != hook_event::post_tool_use)
        return go_on->wrong("only PostToolUse may stop; deny instead");
      answer.verdict = hook_verdict::deny;
      if (answer.reason.empty()) answer.reason = *std::move(stop_reason);
    }
  } else if (!stop_reason->empty()) {
    return fields.wrong("a stopReason without `continue`");
  }
  return {};
}

} // namespace

std::string_view to_string(hook_event e) noexcept {
  switch (e) {
  case hook_event::pre_tool_use: return "PreToolUse";
  case hook_event::permission_request: return "PermissionRequest";
  case hook_event::post_tool_use: return "PostToolUse";
  }
  return "PreToolUse";
}

std::optional<hook_event> hook_event_from(std::string_view name) noexcept {
  for (const auto event :
       {hook_event::pre_tool_use, hook_event::permission_request, hook_event::post_tool_use})
    if (to_string(event) == name) return event;
  return std::nullopt;
}

std::string encode_hook_payload(const hook_payload& payload) {
  json_writer json;
  json.open('{');
  json.field("session_id", payload.session_id);
  json.field("turn_id", payload.turn_id);
  json.key("transcript_path");
  if (payload.transcript_path.empty())
    json.null();
  else
    json.text(payload.transcript_path);
  json.field("cwd", payload.cwd);
  json.field("hook_event_name", to_string(payload.event));
  if (!payload.environment_id.empty()) json.field("environment_id", payload.environment_id);
  if (!payload.model.empty()) json.field("model", payload.model);
  json.field("permission_mode", payload.permission_mode);
  json.field("tool_name", payload.tool_name);
  json.key("tool_input");
  json.open('{');
  std::visit(input_writer{json}, payload.tool_input);
  json.close('}');
  if (const auto& asked = payload.asked) {
    json.field("sandbox_permissions", to_string(asked->sandbox_permissions));
    if (asked->additional_permissions) {
      json.key("additional_permissions");
      json.raw(encode_additional_permissions(*asked->additional_permissions));
    }
    if (!asked->justification.empty()) json.field("justification", asked->justification);
  }
  if (payload.event == hook_event::permission_request) {
    json.field("reason", payload.reason);
    json.key("without_sandbox");
    json.boolean(payload.without_sandbox);
  } else {
    json.field("tool_use_id", payload.tool_use_id);
  }
  if (payload.event == hook_event::post_tool_use)
    json.field("tool_response", payload.tool_response);
  json.close('}');
  return std::move(json).take() + "\n";
}

result<hook_answer> decode_hook_answer(hook_event event, std::string_view text,
                                       std::string_view who) {
  hook_answer answer;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return answer;
  const json_source source{"the answer of " + std::string{who}, errc::invalid_request,
                           "correct the hook, or take it out of hooks.json", 1024 * 1024};
  const auto tree = parse_json(text, source);
  if (!tree) return tree.error();
  const json_node root{*tree, source};
  const auto fields = root.object(
      {"hookSpecificOutput", "decision", "reason", "systemMessage", "continue", "stopReason"});
  if (!fields) return fields.error();
  if (auto common = read_common(event, *fields, answer); !common) return common.error();
  if (const auto specific = fields->find("hookSpecificOutput"))
    if (auto read = read_specific(event, *specific, answer); !read) return read.error();
  return answer;
}

} // namespace gatehouse
