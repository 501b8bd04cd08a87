#include "protocol/rpc/app_events.hpp"
#include "protocol/rpc/app_fields.hpp"
#include "protocol/rpc/mcp_types.hpp"
#include "protocol/shell_quote.hpp"

#include <algorithm>
#include <array>

namespace gatehouse::rpc::mcp {
namespace {

constexpr std::string_view server_instructions =
    "Commands run inside a boundary that the user's policy decides. A refusal says what was "
    "refused and which safer way exists; another wording of the same act is refused as well.";

constexpr std::string_view shell_description =
    "Runs one command in the user's shell and waits for its end. It is judged by policy and runs "
    "in a sandbox; some commands are put before the user first.";

constexpr std::string_view exec_description =
    "Runs one command in the user's shell and waits for its end, but not longer than "
    "yield_time_ms: "
    "a command that still runs then goes on as a terminal session, and the result has its "
    "sessionId, for write_stdin. Judged and confined like shell_command.";

constexpr std::string_view stdin_description =
    "Writes to a terminal session of exec_command, or, without chars, waits for more of its output "
    "and for its end. A session without a terminal takes only Ctrl-C (\\u0003).";

constexpr std::string_view patch_description =
    "Changes files by a patch: '*** Begin Patch', then '*** Add File: P', '*** Delete File: P' or "
    "'*** Update File: P' (with '*** Move to: P' and hunks after '@@'), then '*** End Patch'. "
    "Files outside of the workspace are put before the user first.";

/// What the two command tools have in common.
constexpr std::string_view command_fields =
    R"("login":{"type":"boolean","description":"As a login shell."},
"sandbox_permissions":{"enum":["use_default","require_escalated","with_additional_permissions"],
"description":"require_escalated asks the user to run it without the sandbox."},
"additional_permissions":{"type":"object","description":"With with_additional_permissions: what
 this one command may do beyond the session, as a refusal names it."},
"justification":{"type":"string","description":"Why the user should say yes."},
"prefix_rule":{"type":"array","items":{"type":"string"},"description":"Words of a rule to propose."}},)";

constexpr std::string_view shell_fields = R"({"type":"object","properties":{
"command":{"type":"string","description":"A script for the user's shell."},
"workdir":{"type":"string","description":"Folder to run in; relative to the workspace."},
"timeout_ms":{"type":"integer","minimum":1,"description":"Time limit."},)";

constexpr std::string_view waiting_fields =
    R"("yield_time_ms":{"type":"integer","minimum":0,"description":"How long to wait."},
"max_output_tokens":{"type":"integer","minimum":0,"description":"Longer output is cut in its middle."},)";

constexpr std::string_view exec_fields = R"({"type":"object","properties":{
"cmd":{"type":"string","description":"A script for the user's shell."},
"workdir":{"type":"string","description":"Folder to run in; relative to the workspace."},
"tty":{"type":"boolean","description":"With a terminal, so that it can be written to."},)";

constexpr std::string_view stdin_fields = R"({"type":"object","properties":{
"session_id":{"type":"integer"},)";
constexpr std::string_view stdin_chars =
    R"("chars":{"type":"string","description":"What is written; empty: a poll."}},
"required":["session_id"],"additionalProperties":false})";

constexpr std::string_view needs_command =
    R"("required":["command"],"additionalProperties":false})";
constexpr std::string_view needs_cmd = R"("required":["cmd"],"additionalProperties":false})";

constexpr std::string_view patch_schema = R"({"type":"object","properties":{
"patch":{"type":"string"},
"workdir":{"type":"string","description":"Folder that its paths are relative to."},
"timeout_ms":{"type":"integer","minimum":1,"description":"Time limit."}},
"required":["patch"],"additionalProperties":false})";

constexpr std::string_view permissions_description =
    "Asks the user for permissions for later commands, which stay in the sandbox. The output says "
    "what was given, which may be less. Ask for what a refusal named, and for no more.";

constexpr std::string_view permissions_schema = R"({"type":"object","properties":{
"permissions":{"type":"object","properties":{
"network":{"type":"object","properties":{"enabled":{"type":"boolean"}},"additionalProperties":false},
"file_system":{"type":"object","properties":{
"read":{"type":"array","items":{"type":"string"},"description":"Absolute paths."},
"write":{"type":"array","items":{"type":"string"},"description":"Absolute paths."}}}},
"additionalProperties":false},
"reason":{"type":"string","description":"Why the user should say yes."}},
"required":["permissions"],"additionalProperties":false})";

constexpr std::string_view result_schema = R"({"type":"object","properties":{
"status":{"enum":["completed","failed","declined","rejected","timedOut","interrupted"]},
"exitCode":{"type":"integer"},"output":{"type":"string"},"outputOmittedBytes":{"type":"integer"},
"sandboxType":{"type":"string"},"sandboxDenied":{"type":"boolean"},"message":{"type":"string"},
"sessionId":{"type":"integer"}},
"required":["status"]})";

/// A schema as it is written above, on one line.
std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != '\n') out += c;
  return out;
}

struct tool_facts {
  std::string_view name, title, description;
  std::array<std::string_view, 4> schema; ///< one after the other
  bool acts;                              ///< it may change things, here and elsewhere
};

constexpr std::array<tool_facts, 5> tools{{
    {"shell_command",
     "Run a command",
     shell_description,
     {shell_fields, command_fields, needs_command},
     true},
    {"exec_command",
     "Run a command that may outlive the call",
     exec_description,
     {exec_fields, waiting_fields, command_fields, needs_cmd},
     true},
    {"write_stdin",
     "Write to a terminal session",
     stdin_description,
     {stdin_fields, waiting_fields, stdin_chars},
     true},
    {"apply_patch", "Change files", patch_description, {patch_schema}, true},
    {"request_permissions",
     "Ask for permissions",
     permissions_description,
     {permissions_schema},
     false},
}};

void write_tool(json_writer& json, const tool_facts& tool) {
  json.item();
  json.open('{');
  json.field("name", tool.name);
  json.field("title", tool.title);
  json.field("description", tool.description);
  json.key("inputSchema");
  std::string schema;
  for (const auto part : tool.schema)
    schema += one_line(part);
  json.raw(schema);
  json.key("outputSchema");
  json.raw(one_line(result_schema));
  json.key("annotations");
  json.open('{');
  json.key("destructiveHint");
  json.boolean(tool.acts);
  json.key("openWorldHint");
  json.boolean(tool.acts);
  json.close('}');
  json.close('}');
}

json_writer begin(bool modern) {
  json_writer json;
  json.open('{');
  if (modern) json.field("resultType", "complete");
  return json;
}

std::string finish(json_writer json) {
  json.close('}');
  return std::move(json).take();
}

void write_text(json_writer& json, std::string_view text) {
  json.key("content");
  json.open('[');
  json.item();
  json.open('{');
  json.field("type", "text");
  json.field("text", text);
  json.close('}');
  json.close(']');
}

bool asks_permissions(const review_request& asked) {
  return asked.tool == "request_permissions";
}

void write_choice(json_writer& json, std::string_view value, std::string_view title) {
  json.item();
  json.open('{');
  json.field("const", value);
  json.field("title", title);
  json.close('}');
}

} // namespace

bool can_ask(const client_capabilities& client) {
  if (!client.elicitation) return false;
  const auto* kinds = std::get_if<json_tree::object>(&client.elicitation->value);
  if (!kinds) return false;
  if (kinds->empty()) return true; // the first form of the capability: forms only
  for (const auto& [kind, details] : *kinds)
    if (kind == "form") return true;
  return false;
}

std::string server_facts(bool modern, std::string_view version_for_client,
                         std::string_view program_version) {
  auto json = begin(modern);
  if (modern) {
    json.key("supportedVersions");
    json.open('[');
    json.item();
    json.text(modern_version);
    json.close(']');
    json.key("ttlMs");
    json.number(0);
    json.field("cacheScope", "private");
  } else {
    json.field("protocolVersion", version_for_client);
  }
  json.key("capabilities");
  json.open('{');
  json.key("tools");
  json.open('{');
  json.close('}');
  json.close('}');
  if (modern) {
    json.key("_meta");
    json.open('{');
    json.key("io.modelcontextprotocol/serverInfo");
  } else {
    json.key("serverInfo");
  }
  json.open('{');
  json.field("name", "gatehouse");
  json.field("version", program_version);
  json.close('}');
  if (modern) json.close('}');
  json.field("instructions", server_instructions);
  return finish(std::move(json));
}

bool is_tool(std::string_view name) {
  return std::ranges::find(tools, name, &tool_facts::name) != tools.end();
}

std::string tool_list(bool modern) {
  auto json = begin(modern);
  if (modern) {
    json.key("ttlMs");
    json.number(3'600'000);
    json.field("cacheScope", "public");
  }
  json.key("tools");
  json.open('[');
  for (const auto& tool : tools)
    write_tool(json, tool);
  json.close(']');
  return finish(std::move(json));
}

std::string call_result(bool modern, const call_report& report) {
  const auto told = app::result_of(report);
  json_writer structured;
  structured.open('{');
  structured.key("status");
  codec<app::call_status>::encode(structured, told.status);
  if (told.exit_code) {
    structured.key("exitCode");
    structured.number(*told.exit_code);
  }
  structured.field("output", told.output);
  structured.key("outputOmittedBytes");
  structured.number(told.output_omitted_bytes);
  structured.field("sandboxType", told.sandbox_type);
  structured.key("sandboxDenied");
  structured.boolean(told.sandbox_denied);
  if (!told.message.empty()) structured.field("message", told.message);
  if (told.session_id) {
    structured.key("sessionId");
    structured.number(*told.session_id);
  }
  const auto text = finish(std::move(structured));
  auto json = begin(modern);
  write_text(json, text);
  json.key("structuredContent");
  json.raw(text);
  json.key("isError");
  json.boolean(told.status != app::call_status::completed &&
               told.status != app::call_status::timed_out);
  return finish(std::move(json));
}

std::string call_error(bool modern, std::string_view message) {
  json_writer structured;
  structured.open('{');
  structured.field("status", "rejected");
  structured.field("message", message);
  const auto text = finish(std::move(structured));
  auto json = begin(modern);
  write_text(json, text);
  json.key("structuredContent");
  json.raw(text);
  json.key("isError");
  json.boolean(true);
  return finish(std::move(json));
}

std::string question(const review_request& asked) {
  const bool permissions = asks_permissions(asked);
  std::string text = permissions
                         ? std::string{"Give later commands these permissions?"}
                         : (asked.network ? "Let this command, which is running, connect to " +
                                                to_string(*asked.network) + "?"
                                          : std::string{"Run this command?"}) +
                               "\n\n  " + shell_join(asked.what.argv) + "\n\nin " + asked.what.cwd;
  for (const auto& file : asked.write_targets)
    text += "\nit writes: " + file;
  if (!asked.reason.empty()) text += "\nasked because: " + asked.reason;
  if (!asked.what.justification.empty()) text += "\nthe agent says: " + asked.what.justification;
  if (!asked.will_be_allowed.empty()) text += "\na yes allows: " + asked.will_be_allowed;
  json_writer json;
  json.open('{');
  json.field("mode", "form");
  json.field("message", text);
  json.key("requestedSchema");
  json.open('{');
  json.field("type", "object");
  json.key("properties");
  json.open('{');
  json.key("decision");
  json.open('{');
  json.field("type", "string");
  json.field("title", "Decision");
  json.key("oneOf");
  json.open('[');
  // A client of this protocol knows no turns: what is given holds until it leaves.
  write_choice(json, "accept",
               permissions     ? "Yes, until this client leaves"
               : asked.network ? "Yes, while it runs"
                               : "Yes, once");
  if (asked.session_offered && !permissions)
    write_choice(json, "acceptForSession", "Yes, for this session");
  if (!asked.proposed_amendment.empty())
    write_choice(json, "acceptWithRule",
                 "Yes, and from now on always: " + shell_join(asked.proposed_amendment));
  write_choice(json, "decline", "No");
  json.close(']');
  json.close('}');
  json.close('}');
  json.key("required");
  json.open('[');
  json.item();
  json.text("decision");
  json.close(']');
  json.close('}');
  return finish(std::move(json));
}

std::string input_required(const review_request& asked, std::string_view request_state) {
  json_writer json;
  json.open('{');
  json.field("resultType", "input_required");
  json.key("inputRequests");
  json.open('{');
  json.key("approval");
  json.open('{');
  json.field("method", "elicitation/create");
  json.key("params");
  json.raw(question(asked));
  json.close('}');
  json.close('}');
  json.field("requestState", request_state);
  return finish(std::move(json));
}

std::optional<review_decision> decision_of(const elicit_result& answer,
                                           const review_request& asked) {
  if (answer.action != "accept") return review_decision::denied;
  const auto* fields =
      answer.content ? std::get_if<json_tree::object>(&answer.content->value) : nullptr;
  if (!fields) return std::nullopt;
  for (const auto& [name, value] : *fields) {
    if (name != "decision") continue;
    const auto* word = std::get_if<std::string>(&value.value);
    if (!word) return std::nullopt;
    if (*word == "accept") return review_decision::approved;
    if (*word == "decline") return review_decision::denied;
    if (*word == "acceptForSession" && asked.session_offered && !asks_permissions(asked))
      return review_decision::approved_for_session;
    if (*word == "acceptWithRule" && !asked.proposed_amendment.empty())
      return review_decision::approved_execpolicy_amendment;
    return std::nullopt;
  }
  return std::nullopt;
}

std::string progress(const json_tree& token, int step, std::string_view message) {
  json_writer json;
  json.open('{');
  json.key("progressToken");
  write_tree(json, token);
  json.key("progress");
  json.number(step);
  json.field("message", message);
  return finish(std::move(json));
}

} // namespace gatehouse::rpc::mcp
