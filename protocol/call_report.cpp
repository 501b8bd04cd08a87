#include "protocol/call_report.hpp"

#include "protocol/utf8.hpp"

#include <algorithm>

namespace gatehouse {
namespace {

constexpr int timed_out = 124;
constexpr std::size_t longest_text = 1024;
constexpr std::size_t most_changes = 32;

void shorten(std::string& text) {
  if (text.size() <= longest_text) return;
  text.resize(longest_text);
  text.resize(text.size() - incomplete_utf8_suffix(text));
  text += " [cut]";
}

void shorten(std::optional<error>& failure) {
  if (!failure) return;
  shorten(failure->message);
  shorten(failure->remedy);
}

std::size_t size_of(const std::optional<error>& failure) {
  return failure ? failure->message.size() + failure->remedy.size() : 0;
}

std::size_t size_of(const std::vector<file_change>& changes) {
  std::size_t bytes = changes.size() * sizeof(file_change);
  for (const auto& change : changes)
    bytes += change.path.size() + change.from.size();
  return bytes;
}

} // namespace

call_report outcome_of(const call_report& report) {
  call_report made;
  made.call_id = report.call_id;
  made.ending = report.ending;
  made.evaluation.requirement.kind = report.evaluation.requirement.kind;
  made.evaluation.requirement.bypass_sandbox = report.evaluation.requirement.bypass_sandbox;
  made.evaluation.requirement.refused_by = report.evaluation.requirement.refused_by;
  made.judged = report.judged;
  made.sandbox = report.sandbox;
  made.reviews = report.reviews;
  for (auto& review : made.reviews)
    shorten(review.reason);
  made.attempts = report.attempts;
  for (auto& attempt : made.attempts) {
    attempt.blocked = {};
    attempt.warnings = {};
    shorten(attempt.failure);
  }
  const auto& output = report.output;
  made.output.total_bytes = std::max<std::uint64_t>(
      output.total_bytes,
      output.stdout_text.size() + output.stderr_text.size() + output.truncated_bytes);
  made.output.truncated_bytes = made.output.aggregate_omitted_bytes = made.output.total_bytes;
  made.output.dropped = true;
  if (report.patch) {
    made.patch.emplace();
    made.patch->tolerant_matches = report.patch->tolerant_matches;
    if (report.patch->committed.size() <= most_changes)
      made.patch->committed = report.patch->committed;
  }
  made.session_id = report.session_id;
  made.message = report.message;
  shorten(made.message);
  made.failure = report.failure;
  shorten(made.failure);
  return made;
}

bool review_record::lets_through() const noexcept {
  return is_approval(decision) ||
         (decision == review_decision::network_policy_amendment && !denies_host);
}

std::size_t kept_bytes(const call_report& report) noexcept {
  constexpr std::size_t segment = 2048; // with its rule and its words
  const auto& output = report.output;
  auto bytes =
      sizeof report + report.call_id.size() + segment * report.evaluation.segments.size() +
      std::max(output.aggregated.size(), output.stdout_text.size() + output.stderr_text.size()) +
      report.message.size() + size_of(report.failure);
  for (const auto& review : report.reviews)
    bytes += sizeof review + review.reason.size();
  for (const auto& attempt : report.attempts) {
    bytes += sizeof attempt + attempt.blocked.size() * sizeof(blocked_connection) +
             size_of(attempt.failure);
    for (const auto& warning : attempt.warnings)
      bytes += sizeof(std::string) + warning.size();
  }
  if (report.patch) bytes += size_of(report.patch->asked) + size_of(report.patch->committed);
  return bytes;
}

std::optional<int> shell_status(const attempt_record& attempt) noexcept {
  if (attempt.ending == attempt_ending::timed_out) return timed_out;
  if (attempt.signal) return 128 + *attempt.signal;
  return attempt.exit_code;
}

int exit_status(const call_report& report) noexcept {
  constexpr int stopped_by_user = 120;
  constexpr int no_boundary = 121;
  constexpr int refused = 125;
  constexpr int usage = 2;
  constexpr int patch_failed = 1;
  switch (report.ending) {
  case call_ending::refused: return refused;
  case call_ending::aborted: return stopped_by_user;
  case call_ending::failed:
    if (report.patch && report.failure && report.failure->code != errc::boundary_unavailable &&
        report.failure->code != errc::boundary_failed)
      return patch_failed;
    if (report.failure && report.failure->code == errc::invalid_request) return usage;
    return no_boundary;
  case call_ending::completed:
    if (report.session_id) return 0; // it goes on
    break;
  }
  if (report.attempts.empty()) return 0; // it needed no process
  const attempt_record& last = report.attempts.back();
  if (last.ending == attempt_ending::cancelled) return stopped_by_user;
  constexpr int largest = 255; // a system takes the rest of a division by 256, which may be 0
  const int status = shell_status(last).value_or(no_boundary);
  return status >= 0 && status <= largest ? status : largest;
}

} // namespace gatehouse
