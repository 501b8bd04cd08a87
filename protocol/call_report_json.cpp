#include "protocol/call_report_json.hpp"

#include "protocol/explain_json.hpp"
#include "protocol/explain_text.hpp"
#include "protocol/utf8.hpp"

#include <boost/json.hpp>

namespace gatehouse {
namespace {

namespace json = boost::json;

std::string text(std::string_view bytes) {
  return to_valid_utf8(bytes);
}

json::object denial_json(const denial& what) {
  json::object out{{"kind", to_string(what.kind)}};
  if (!what.path.empty()) out["path"] = text(what.path);
  if (!what.host.empty()) out["host"] = text(what.host);
  out["entry"] = text(what.entry);
  out["remedy"] = text(what.remedy);
  return out;
}

json::object error_json(const error& what) {
  json::object out{{"kind", to_string(what.code)}, {"message", text(what.message)}};
  if (!what.remedy.empty()) out["remedy"] = text(what.remedy);
  return out;
}

json::object blocked_json(const blocked_connection& what) {
  json::object out{{"call_id", text(what.call_id)},
                   {"protocol", to_string(what.target.protocol)},
                   {"host", text(what.target.host)},
                   {"port", what.target.port},
                   {"reason", to_string(what.reason)}};
  if (!what.method.empty()) out["method"] = text(what.method);
  if (!what.rule.empty()) out["rule"] = text(what.rule);
  if (!what.detail.empty()) out["detail"] = text(what.detail);
  return out;
}

json::object attempt_json(const attempt_record& attempt) {
  json::object out{{"sandbox", to_string(attempt.sandbox)},
                   {"network", to_string(attempt.network)}};
  if (attempt.ending == attempt_ending::timed_out) {
    out["timed_out"] = true;
    out["limit_ms"] = attempt.limit.count();
    out["grace_ms"] = attempt.grace.count();
    if (attempt.idle) out["idle"] = true;
    if (attempt.stopped) out["stopped"] = true;
  } else if (attempt.ending == attempt_ending::cancelled)
    out["cancelled"] = true;
  else if (attempt.ending == attempt_ending::running)
    out["running"] = true;
  else if (attempt.signal)
    out["signal"] = *attempt.signal;
  else if (attempt.exit_code)
    out["exit_code"] = *attempt.exit_code;
  if (attempt.denied) out["denied"] = denial_json(*attempt.denied);
  if (!attempt.blocked.empty()) {
    json::array blocked;
    for (const auto& one : attempt.blocked)
      blocked.push_back(blocked_json(one));
    out["blocked_connections"] = std::move(blocked);
    if (attempt.blocked_total > attempt.blocked.size())
      out["blocked_connections_total"] = attempt.blocked_total;
  }
  if (attempt.failure) out["failure"] = error_json(*attempt.failure);
  if (!attempt.warnings.empty()) {
    json::array warnings;
    for (const auto& one : attempt.warnings)
      warnings.emplace_back(text(one));
    out["warnings"] = std::move(warnings);
  }
  out["duration_ms"] = attempt.duration.count();
  return out;
}

json::array changes_json(std::span<const file_change> changes) {
  json::array out;
  for (const auto& change : changes) {
    json::object entry{{"change", to_string(change.what)}, {"path", text(change.path)}};
    if (!change.from.empty()) entry["from"] = text(change.from);
    out.push_back(std::move(entry));
  }
  return out;
}

} // namespace

std::string encode_error(const error& what) {
  return json::serialize(error_json(what));
}

std::string encode_attempt(const attempt_record& attempt) {
  return json::serialize(attempt_json(attempt));
}

std::string encode_denial(const denial& what) {
  return json::serialize(denial_json(what));
}

std::string encode_blocked(const blocked_connection& what) {
  return json::serialize(blocked_json(what));
}

std::string encode_call_report(const call_report& report, std::optional<int> status) {
  json::array reviews;
  for (const auto& review : report.reviews) {
    json::object one{{"id", review.id},
                     {"attempt", review.attempt},
                     {"reviewer", to_string(review.reviewer)},
                     {"decision", to_string(review.decision)},
                     {"reason", text(review.reason)}};
    if (!review.host.empty()) one["host"] = review.host;
    if (review.decision == review_decision::network_policy_amendment)
      one["denies_host"] = review.denies_host;
    reviews.push_back(std::move(one));
  }
  json::array attempts;
  for (const auto& attempt : report.attempts)
    attempts.push_back(attempt_json(attempt));
  json::object out;
  if (report.judged) {
    out["decision"] = json::parse(encode_explain_answer(report.evaluation, report.sandbox));
    auto why = why_text(report.evaluation, report.sandbox);
    for (const auto& review : report.reviews)
      why += answer_line(review.attempt, answer_words(review.decision, review.denies_host),
                         to_string(review.reviewer), review.reason, review.host);
    out["why"] = text(why);
  }
  out["reviews"] = std::move(reviews);
  out["attempts"] = std::move(attempts);
  out["stdout"] = text(report.output.stdout_text);
  out["stderr"] = text(report.output.stderr_text);
  out["aggregated"] = text(report.output.aggregated);
  out["truncated_bytes"] = report.output.truncated_bytes;
  if (status || !report.session_id) // a session that goes on has none yet
    out["exit_status"] = status.value_or(exit_status(report));
  if (report.patch) {
    out["patch"] = changes_json(report.patch->asked);
    out["delta"] = changes_json(report.patch->committed);
    if (report.patch->tolerant_matches > 0)
      out["tolerant_matches"] = report.patch->tolerant_matches;
  }
  if (report.granted) out["granted"] = json::parse(encode_given_permissions(*report.granted));
  if (!report.message.empty()) out["message"] = text(report.message);
  if (report.failure) out["failure"] = error_json(*report.failure);
  if (report.output.dropped) out["output_dropped"] = true;
  if (report.session_id) out["session_id"] = *report.session_id;
  return json::serialize(out);
}

} // namespace gatehouse
