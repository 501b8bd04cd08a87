#pragma once

#include "protocol/json_tree.hpp"
#include "protocol/result.hpp"
#include "protocol/tool_call.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace gatehouse {

/// Moments at which a hook, a program of the user's, hears of a call and may object.
enum class hook_event : std::uint8_t {
  pre_tool_use,       ///< before policy: may block or rewrite
  permission_request, ///< a question is due: may answer it (§48)
  post_tool_use,      ///< after the end: may replace what the model sees
};
/// "PreToolUse", "PermissionRequest", "PostToolUse".
std::string_view to_string(hook_event e) noexcept;
std::optional<hook_event> hook_event_from(std::string_view name) noexcept;

/// `tool_input` of a command or a patch.
struct hook_command_input {
  std::string command;     ///< the script, or the words as a shell would take them; or the patch
  std::string description; ///< permission requests only; empty: left out
};
/// `tool_input` of input to a terminal session.
struct hook_stdin_input {
  std::int64_t session_id = 0;
  std::string chars;
  std::string parent_call_id;
};
/// `tool_input` of request_permissions.
struct hook_permissions_input {
  std::string reason;
  additional_permissions permissions;
};

/// What a call asks for beside its command (§D5).
struct hook_wishes {
  gatehouse::sandbox_permissions sandbox_permissions = gatehouse::sandbox_permissions::use_default;
  std::optional<gatehouse::additional_permissions> additional_permissions; ///< unset: left out
  std::string justification;                                               ///< empty: left out
};

/// What a hook reads on its standard input.
struct hook_payload {
  hook_event event = hook_event::pre_tool_use;
  std::string session_id;
  std::string turn_id;
  std::string transcript_path; ///< empty: null
  std::string cwd;
  std::string environment_id; ///< of a call on another machine (§7); empty: this one, left out
  std::string model;          ///< empty: left out
  std::string permission_mode = "default";
  std::string tool_name; ///< "Bash", "apply_patch", …: what matchers go by
  std::variant<hook_command_input, hook_stdin_input, hook_permissions_input> tool_input;
  std::optional<hook_wishes> asked; ///< of commands and patches
  std::string reason;               ///< permission requests only: why it is asked
  bool without_sandbox = false; ///< permission requests only: an allow lets it leave the sandbox
  std::string tool_use_id;      ///< the call id; left out in permission requests
  std::string tool_response;    ///< PostToolUse only
};

/// One line of JSON and a newline. Bytes that are no UTF-8 appear as U+FFFD.
std::string encode_hook_payload(const hook_payload& payload);

enum class hook_verdict : std::uint8_t { none, allow, deny };

/// What a hook said.
struct hook_answer {
  hook_verdict verdict = hook_verdict::none; ///< allow: permission requests only
  std::string reason;                        ///< deny: for the model; may be empty
  std::optional<std::string> rewritten;      ///< PreToolUse: the command to judge instead
  std::string context;                       ///< for the model, before its next step
  std::string warning;                       ///< for the user

  bool operator==(const hook_answer&) const = default;
};

/// Reads what a hook printed for `event`. Nothing at all and `{}` are no opinion. Strict: another
/// event's name, an unknown field or word, a field that is not understood here, a rewriting without
/// an allow, or anything but one JSON object is errc::invalid_request with its place; then nothing
/// of the answer counts (§D8).
/// @param who the hook, for messages
result<hook_answer> decode_hook_answer(hook_event event, std::string_view text,
                                       std::string_view who);

} // namespace gatehouse
