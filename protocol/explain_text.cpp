#include "protocol/explain_text.hpp"

#include "protocol/shell_quote.hpp"
#include "protocol/utf8.hpp"
#include "protocol/visible_text.hpp"

namespace gatehouse {
namespace {

/// Words that others chose: a line of theirs is none of ours.
std::string told(std::string_view text) {
  return visible_lines(text, "      ");
}

std::string explained_words(const std::vector<std::vector<std::string>>& pattern) {
  std::string text;
  for (const auto& alternatives : pattern) {
    std::string token;
    for (const auto& word : alternatives)
      token += (token.empty() ? "" : "|") + shell_quote(word);
    text += (text.empty() ? "" : " ") + (alternatives.size() == 1 ? token : "(" + token + ")");
  }
  return text;
}

std::string judged_by(const judged_segment& segment) {
  switch (segment.judge) {
  case segment_judge::rule: return "by a rule";
  case segment_judge::safe: return "known to be safe";
  case segment_judge::danger: return "dangerous";
  case segment_judge::unmatched: return "no rule, not on a list";
  }
  return "";
}

std::string describe_segment(const judged_segment& segment) {
  auto text = "  " + std::string{to_string(segment.decision)} + "  " +
              told(shell_join(segment.argv)) + "\n      " + std::string{to_string(segment.origin)} +
              ", " + judged_by(segment);
  if (!segment.why.empty()) text += ": " + told(segment.why);
  text += '\n';
  if (segment.rule) {
    const auto& rule = *segment.rule;
    text += "      " + told(rule.file) + ":" + std::to_string(rule.line) + ": " +
            told(explained_words(rule.pattern));
    if (!rule.justification.empty()) text += " (" + told(rule.justification) + ")";
    text += '\n';
  }
  return text;
}

/// The reason for a question that neither a rule nor a danger is the cause of.
constexpr std::string_view why_asked = "no rule allows it and no list knows it as harmless, or it "
                                       "asks for more than its sandbox gives";

std::string describe_requirement(const exec_requirement& requirement, bool sandboxed) {
  std::string text;
  switch (requirement.kind) {
  case requirement_kind::skip:
    text = requirement.bypass_sandbox ? "runs without a question, a rule lifts the sandbox"
                                      : "runs without a question";
    break;
  case requirement_kind::needs_approval: text = "needs an approval"; break;
  case requirement_kind::forbidden:
    text = "forbidden";
    if (requirement.refused_by == refused_by::handler)
      text += ", refused by the tool handler before any rule";
    if (requirement.refused_by == refused_by::hook) text += ", refused by a hook before any rule";
    break;
  }
  if (!requirement.reason.empty())
    text += ": " + told(requirement.reason);
  else if (requirement.kind == requirement_kind::needs_approval)
    text.append(": ").append(why_asked);
  text += '\n';
  if (!requirement.proposed_amendment.empty())
    text += std::string{"  a reviewer may add the rule: allow, "} +
            (amendment_stays_inside(requirement, sandboxed) ? "inside the sandbox, "
                                                            : "by default without the sandbox, ") +
            (requirement.amendment_exact ? "exactly: " : "all that begins with: ") +
            told(shell_join(requirement.proposed_amendment)) + "\n";
  return text;
}

} // namespace

std::string explain_text(std::span<const std::string> argv, const approval_policy& approval,
                         const exec_evaluation& evaluation, const sandbox_summary& sandbox) {
  return to_valid_utf8("command: " + told(shell_join(argv)) +
                       "\napproval policy: " + describe(approval) + "\n") +
         why_text(evaluation, sandbox);
}

std::string why_text(const exec_evaluation& evaluation, const sandbox_summary& sandbox) {
  std::string text{evaluation.complex ? "segments (not plain: no allow can settle them):\n"
                                      : "segments:\n"};
  for (const auto& segment : evaluation.segments)
    text += describe_segment(segment);
  if (!evaluation.unread.empty()) text += "not read: " + told(evaluation.unread) + "\n";
  text += "requirement: " +
          describe_requirement(evaluation.requirement, sandbox.first_attempt_sandboxed);
  if (evaluation.requirement.kind == requirement_kind::forbidden)
    text += "boundary, if it were allowed: ";
  else
    text += "boundary: ";
  text += sandbox.first_attempt_sandboxed ? "sandbox " + std::string{to_string(sandbox.backend)}
                                          : std::string{"none of ours"};
  text += ", network " + std::string{to_string(sandbox.network)} + "\n";
  return to_valid_utf8(text);
}

result<std::string> why_text(const review_request& asked) {
  if (!asked.judged)
    return asked.what.argv.empty()
               ? error{errc::invalid_request, "it is about later commands; none is judged yet",
                       "The question says what an approval would allow them."}
               : error{errc::invalid_request,
                       "no rule judges what is written to a running process; it is asked about "
                       "since that process has more than the session's permissions",
                       "The question shows what would be written."};
  auto text = why_text(asked.judged->evaluation, asked.judged->sandbox);
  switch (asked.cause.source) {
  case ask_source::denial:
  case ask_source::network:
    return text + "asked because: " + visible_words(to_valid_utf8(asked.reason)) + "\n";
  case ask_source::strict_review: return text + "asked because: every call is reviewed\n";
  default: return text;
  }
}

std::string answer_words(review_decision decision, bool denies_host) {
  std::string words{to_string(decision)};
  if (decision == review_decision::network_policy_amendment)
    words += denies_host ? " (deny)" : " (allow)";
  return words;
}

std::string answer_line(int attempt, std::string_view decision, std::string_view reviewer,
                        std::string_view reason, std::string_view host) {
  auto text = "answer to attempt " + std::to_string(attempt);
  if (!host.empty()) text.append(" about ").append(told(host));
  text.append(": ").append(decision).append(", by ").append(reviewer);
  if (!reason.empty()) text.append(": ").append(told(reason));
  return to_valid_utf8(text + "\n");
}

} // namespace gatehouse
