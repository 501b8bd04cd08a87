#include "protocol/audit.hpp"

#include "protocol/call_report_json.hpp"
#include "protocol/explain_json.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/profile_json.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace gatehouse {
namespace {

/// A word of a command that is longer is not kept whole: a decision about it cannot be replayed.
constexpr std::size_t longest_word = std::size_t{64} << 10U;

constexpr std::array<std::string_view, 13> kind_words = {
    "session",     "request", "decision", "question",  "review", "attempt", "denial",
    "attempt_end", "end",     "grant",    "amendment", "pruned", "lost"};

bool is_whole(const proposal& what) {
  return std::ranges::all_of(what.argv, [](const auto& w) { return w.size() <= longest_word; });
}

void words(json_writer& out, const std::vector<std::string>& list) {
  out.open('[');
  for (const auto& word : list) {
    out.item();
    if (word.size() <= longest_word)
      out.text(word);
    else
      out.text(word.substr(0, longest_word) + " [cut: " + std::to_string(word.size()) + " bytes]");
  }
  out.close(']');
}

void changes(json_writer& out, std::span<const file_change> list) {
  out.open('[');
  for (const auto& change : list) {
    out.item();
    out.open('{');
    out.field("change", to_string(change.what));
    out.field("path", change.path);
    if (!change.from.empty()) out.field("from", change.from);
    out.close('}');
  }
  out.close(']');
}

/// The action: of a patch its files, since its text is how it came.
void action(json_writer& out, const proposal& what) {
  if (what.patch) {
    out.key("patch");
    changes(out, what.patch->changes);
    out.key("patch_bytes");
    out.number(static_cast<std::int64_t>(what.patch->text.size()));
  } else {
    out.key("argv");
    words(out, what.argv);
  }
  out.field("cwd", what.cwd);
}

/// The fields by which a request asks for more than the default.
void wishes(json_writer& out, const proposal& what) {
  if (what.sandbox_permissions != sandbox_permissions::use_default)
    out.field("sandbox_permissions", to_string(what.sandbox_permissions));
  if (what.additional_permissions) {
    out.key("additional_permissions");
    out.raw(encode_additional_permissions(*what.additional_permissions));
  }
  if (!what.prefix_rule.empty()) {
    out.key("prefix_rule");
    words(out, what.prefix_rule);
  }
}

std::string
terminal_action(std::string_view tool,
                std::initializer_list<std::pair<std::string_view, std::int64_t>> numbers) {
  json_writer out;
  out.open('{');
  out.field("tool", tool);
  for (const auto& [name, number] : numbers) {
    out.key(name);
    out.number(number);
  }
  out.close('}');
  return std::move(out).take();
}

} // namespace

std::string_view to_string(audit_kind k) noexcept {
  return kind_words[static_cast<std::size_t>(k)];
}

std::string audit_kind_list() {
  std::string list;
  for (const auto word : kind_words)
    list.append(list.empty() ? "" : ", ").append(word);
  return list;
}

std::optional<audit_kind> audit_kind_from(std::string_view word) noexcept {
  const auto found = std::ranges::find(kind_words, word);
  if (found == kind_words.end()) return std::nullopt;
  return static_cast<audit_kind>(found - kind_words.begin());
}

std::string audit_session(std::string_view program, std::string_view version, std::string_view cwd,
                          std::string_view approval_json, std::string_view profile_json,
                          sandbox_backend backend) {
  json_writer out;
  out.open('{');
  out.field("program", program);
  out.field("version", version);
  out.field("cwd", cwd);
  out.key("approval_policy");
  out.raw(approval_json);
  out.key("profile");
  out.raw(profile_json);
  out.field("backend", to_string(backend));
  out.close('}');
  return std::move(out).take();
}

std::string audit_request(std::string_view tool, const proposal& what) {
  json_writer out;
  out.open('{');
  out.field("tool", tool);
  action(out, what);
  wishes(out, what);
  if (what.timeout) {
    out.key("timeout_ms");
    out.number(what.timeout->count());
  }
  if (what.login) {
    out.key("login");
    out.boolean(true);
  }
  if (what.tty) {
    out.key("tty");
    out.boolean(true);
  }
  if (what.environment_id != "local") out.field("environment", what.environment_id);
  if (!what.justification.empty()) out.field("justification", what.justification);
  out.close('}');
  return std::move(out).take();
}

std::string audit_decision(const proposal& what, std::string_view approval_json,
                           std::string_view profile_json, const exec_evaluation& evaluation,
                           const sandbox_summary& first) {
  const auto& requirement = evaluation.requirement;
  const bool by_hook =
      requirement.kind == requirement_kind::forbidden && requirement.refused_by == refused_by::hook;
  json_writer out;
  out.open('{');
  if (what.patch || by_hook || !is_whole(what)) {
    out.key("replay");
    out.boolean(false);
    action(out, what);
  } else {
    out.key("request");
    out.open('{');
    out.key("argv");
    words(out, what.argv);
    out.field("cwd", what.cwd);
    wishes(out, what);
    out.key("approval_policy");
    out.raw(approval_json);
    out.key("profile");
    out.raw(profile_json);
    out.close('}');
  }
  out.key("decision");
  out.raw(encode_explanation(evaluation, first));
  out.close('}');
  return std::move(out).take();
}

std::string audit_question(const review_request& asked) {
  json_writer out;
  out.open('{');
  action(out, asked.what);
  out.field("reason", asked.reason);
  out.field("will_be_allowed", asked.will_be_allowed);
  out.field("review", asked.review_id);
  if (asked.network) out.field("host", to_string(*asked.network));
  if (asked.without_sandbox) {
    out.key("without_sandbox");
    out.boolean(true);
  }
  if (!asked.proposed_amendment.empty()) {
    out.key("proposed_amendment");
    words(out, asked.proposed_amendment);
  }
  out.close('}');
  return std::move(out).take();
}

std::string audit_review(const review_answer& answer) {
  json_writer out;
  out.open('{');
  out.field("review", answer.review_id);
  out.field("decision", to_string(answer.decision));
  out.field("reviewer", to_string(answer.reviewer));
  if (!answer.reason.empty()) out.field("reason", answer.reason);
  if (answer.denies_host) {
    out.key("denies_host");
    out.boolean(true);
  }
  out.close('}');
  return std::move(out).take();
}

std::string audit_attempt(const proposal& what, sandbox_backend sandbox, network_mode network,
                          std::string_view profile_json, std::string_view review_id) {
  json_writer out;
  out.open('{');
  action(out, what);
  out.field("sandbox", to_string(sandbox));
  out.field("network", to_string(network));
  out.key("profile");
  out.raw(profile_json);
  if (!review_id.empty()) out.field("approved_by", review_id);
  out.close('}');
  return std::move(out).take();
}

std::string audit_stdin(int session_id) {
  return terminal_action("write_stdin", {{"session_id", session_id}});
}

std::string audit_typed(int session_id, std::size_t bytes) {
  json_writer out;
  out.open('{');
  out.field("tool", "terminal_input");
  out.field("by", "user");
  out.key("session_id");
  out.number(session_id);
  out.key("bytes");
  out.number(static_cast<std::int64_t>(bytes));
  out.close('}');
  return std::move(out).take();
}

std::string audit_signalled(int session_id, int signal) {
  return terminal_action("terminal_signal", {{"session_id", session_id}, {"signal", signal}});
}

std::string audit_resized(int session_id, int rows, int columns) {
  return terminal_action("terminal_resize",
                         {{"session_id", session_id}, {"rows", rows}, {"columns", columns}});
}

std::string audit_file_call(std::string_view method, std::string_view path,
                            std::string_view destination, std::size_t bytes,
                            std::string_view profile_json) {
  json_writer out;
  out.open('{');
  out.field("tool", method);
  out.field("path", path);
  if (!destination.empty()) out.field("destination", destination);
  if (bytes > 0) {
    out.key("bytes");
    out.number(static_cast<std::int64_t>(bytes));
  }
  if (!profile_json.empty()) {
    out.key("profile");
    out.raw(profile_json);
  }
  out.close('}');
  return std::move(out).take();
}

std::string audit_denial(const denial& what) {
  return encode_denial(what);
}

std::string audit_denial(const blocked_connection& what) {
  json_writer out;
  out.open('{');
  out.field("kind", "network");
  out.key("connection");
  out.raw(encode_blocked(what));
  out.close('}');
  return std::move(out).take();
}

std::string audit_attempt_end(const attempt_record& ended) {
  return encode_attempt(ended);
}

std::string audit_end(const call_report& report) {
  constexpr std::array<std::string_view, 4> endings = {"completed", "refused", "aborted", "failed"};
  json_writer out;
  out.open('{');
  out.field("ending", endings[static_cast<std::size_t>(report.ending)]);
  out.key("exit_status");
  out.number(exit_status(report));
  out.key("attempts");
  out.number(static_cast<std::int64_t>(report.attempts.size()));
  out.key("output_bytes");
  out.number(static_cast<std::int64_t>(report.output.total_bytes));
  if (report.patch) {
    out.key("committed");
    changes(out, report.patch->committed);
  }
  if (!report.message.empty()) out.field("message", report.message.substr(0, longest_word));
  out.close('}');
  return std::move(out).take();
}

std::string audit_amendment(std::string_view what, std::string_view text) {
  json_writer out;
  out.open('{');
  out.field("what", what);
  out.field("text", text);
  out.close('}');
  return std::move(out).take();
}

std::string audit_grant(std::string_view change, std::string_view what, std::string_view which) {
  json_writer out;
  out.open('{');
  out.field("change", change);
  out.field("what", what);
  out.field("which", which);
  out.close('}');
  return std::move(out).take();
}

} // namespace gatehouse
