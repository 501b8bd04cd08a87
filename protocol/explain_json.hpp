#pragma once

#include "protocol/approval_policy.hpp"
#include "protocol/exec_policy.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"
#include "protocol/review.hpp"
#include "protocol/sandbox_choice.hpp"
#include "protocol/tool_call.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gatehouse {

/// A question to `policy explain` (§133a): a call and, where it differs from the configuration,
/// what to judge it by. Unset: as configured.
struct explain_request {
  /// A string for the user's shell, or an argv.
  std::variant<std::string, std::vector<std::string>> command;
  std::optional<approval_policy> approval;
  std::variant<std::monostate, std::string, permission_profile> profile; ///< name or object
  std::optional<std::string> rules;        ///< text of a rule file, instead of the configured rules
  std::optional<std::string> requirements; ///< text, instead of the host's requirements file
  std::string cwd;                         ///< empty: the process's
  gatehouse::sandbox_permissions sandbox_permissions = gatehouse::sandbox_permissions::use_default;
  std::optional<gatehouse::additional_permissions> additional_permissions;
  std::vector<std::string> prefix_rule;
  bool login = false;
  bool tty = false; ///< a terminal, whose input stays open; no field of the request
};

/// Reads one request. What is not understood (a field, a word, NUL, bad UTF-8) is
/// errc::invalid_request with the JSON pointer or byte offset. Harmless arguments of the
/// `shell_command` tool (timeout_ms, justification) and `id`, `tool` may stand in it; `workdir` is
/// another name for `cwd`.
result<explain_request> decode_explain_request(std::string_view line);

/// `["git", "push"]`: an array of strings without NUL, as `--prefix-rule` takes it.
result<std::vector<std::string>> decode_words(std::string_view json);

/// A decision that was made before, for `policy replay` (§133b).
struct recorded_decision {
  explain_request request;
  requirement_kind kind = requirement_kind::forbidden;
  bool bypass_sandbox = false;
};
/// Reads `{"request": …, "decision": …}` with the shapes of this header.
result<recorded_decision> decode_recorded_decision(std::string_view line);

/// The answer: one line of JSON, without the newline. Bytes that are no UTF-8 appear as U+FFFD.
std::string encode_explain_answer(const exec_evaluation& evaluation,
                                  const sandbox_summary& sandbox);
/// The same with `why`: why_text() of it.
std::string encode_explanation(const exec_evaluation& evaluation, const sandbox_summary& sandbox);
/// The same of a question, with why_text() of the question. Errors: as why_text().
result<std::string> encode_explanation(const review_request& asked);
/// `{"error":{"kind":…,"message":…}}`, with `remedy` where there is one.
std::string encode_explain_error(const error& failure);

} // namespace gatehouse
