#include "cli/run_summary.hpp"

#include "protocol/visible_text.hpp"

namespace gatehouse::cli {
namespace {

std::string how_decided(const call_report& report) {
  for (const auto& review : report.reviews)
    if (review.attempt == 1 && review.host.empty() && is_approval(review.decision))
      return "approved by " + std::string{to_string(review.reviewer)};
  return report.evaluation.requirement.bypass_sandbox ? "allowed by rule" : "no approval needed";
}

/// What was answered about hosts while the attempt ran: "; https://a.test:443 approved by user".
std::string hosts_decided(const call_report& report, int attempt) {
  std::string out;
  for (const auto& review : report.reviews) {
    if (review.attempt != attempt || review.host.empty()) continue;
    const bool nobody = review.reviewer == reviewer_kind::none;
    out += "; " + review.host + (review.lets_through() ? " approved" : " refused");
    out +=
        nobody ? ", since nobody could be asked" : " by " + std::string{to_string(review.reviewer)};
    if (review.decision == review_decision::network_policy_amendment) out += " from now on";
  }
  return out;
}

std::string boundary(const attempt_record& attempt) {
  if (attempt.sandbox == sandbox_backend::none) return "without a sandbox";
  return "in the " + std::string{to_string(attempt.sandbox)} + " sandbox, network " +
         std::string{to_string(attempt.network)};
}

std::string ending(const attempt_record& attempt) {
  switch (attempt.ending) {
  case attempt_ending::signalled: return "ended by signal " + std::to_string(*attempt.signal);
  case attempt_ending::timed_out:
    if (attempt.failure)
      return "the time limit of " + std::to_string(attempt.limit.count()) + " ms was over";
    return "ended after " + std::to_string(attempt.duration.count()) + " ms by the time limit of " +
           std::to_string(attempt.limit.count()) + " ms" +
           (attempt.duration < attempt.limit + attempt.grace
                ? std::string{}
                : " (killed since it did not end within " + std::to_string(attempt.grace.count()) +
                      " ms)");
  case attempt_ending::denied: return "denied by the boundary";
  case attempt_ending::exited: return "exit " + std::to_string(*attempt.exit_code);
  case attempt_ending::cancelled: return "cancelled";
  case attempt_ending::not_started: return "not started";
  case attempt_ending::lost: return "its end is not known";
  case attempt_ending::running: return "still running";
  }
  return "not started";
}

/// Only its first line has the prefix: those below it may be words of the command or of a rule.
void add(std::string& out, std::string_view text) {
  while (text.ends_with('\n'))
    text.remove_suffix(1);
  if (!text.empty()) out += "gatehouse: " + visible_lines(text, "  ") + "\n";
}

} // namespace

std::string message_lines(std::string_view message) {
  std::string out;
  add(out, message);
  return out;
}

std::string run_summary(const call_report& report) {
  std::string out;
  for (const auto& attempt : report.attempts) {
    for (const auto& warning : attempt.warnings)
      add(out, "warning: " + warning);
    const auto decided = attempt.number == 1 ? how_decided(report) : "approved again";
    add(out, decided + hosts_decided(report, attempt.number) + "; " + boundary(attempt) + "; " +
                 ending(attempt));
  }
  add(out, report.message);
  return out;
}

} // namespace gatehouse::cli
