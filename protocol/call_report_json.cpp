#include "protocol/call_report_json.hpp"

#include "protocol/explain_json.hpp"
#include "protocol/json_quote.hpp"
#include "protocol/utf8.hpp"

namespace gatehouse {
namespace {

std::string_view to_string(call_ending ending) noexcept {
  switch (ending) {
  case call_ending::completed: return "completed";
  case call_ending::refused: return "refused";
  case call_ending::aborted: return "aborted";
  case call_ending::failed: return "failed";
  }
  return "failed";
}

/// One object under construction.
class object_writer {
public:
  object_writer& text(std::string_view key, std::string_view value) {
    return raw(key, json_quote(to_valid_utf8(value)));
  }
  object_writer& text_unless_empty(std::string_view key, std::string_view value) {
    return value.empty() ? *this : text(key, value);
  }
  object_writer& number(std::string_view key, std::int64_t value) {
    return raw(key, std::to_string(value));
  }
  object_writer& raw(std::string_view key, std::string_view json) {
    out_ += out_.empty() ? '{' : ',';
    out_ += json_quote(key);
    out_ += ':';
    out_ += json;
    return *this;
  }
  [[nodiscard]] std::string done() const { return out_.empty() ? "{}" : out_ + '}'; }

private:
  std::string out_;
};

template <class Items, class Encode>
std::string list(const Items& items, Encode encode) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += encode(item);
  }
  return out + ']';
}

std::string encode_failure(const error& failure) {
  return object_writer{}
      .text("kind", to_string(failure.code))
      .text("message", failure.message)
      .text_unless_empty("remedy", failure.remedy)
      .done();
}

std::string encode_denial(const denial& what) {
  return object_writer{}
      .text("kind", to_string(what.kind))
      .text_unless_empty("path", what.path)
      .text_unless_empty("host", what.host)
      .text("entry", what.entry)
      .text("remedy", what.remedy)
      .done();
}

std::string encode_attempt(const attempt_record& attempt) {
  object_writer out;
  out.text("sandbox", to_string(attempt.sandbox)).text("network", to_string(attempt.network));
  if (attempt.exit_code) out.number("exit_code", *attempt.exit_code);
  if (attempt.signal) out.number("signal", *attempt.signal);
  if (attempt.ending == attempt_ending::timed_out) out.raw("timed_out", "true");
  if (attempt.ending == attempt_ending::cancelled) out.raw("cancelled", "true");
  if (attempt.denied) out.raw("denied", encode_denial(*attempt.denied));
  if (attempt.failure) out.raw("failure", encode_failure(*attempt.failure));
  return out.number("duration_ms", attempt.duration.count()).done();
}

std::string encode_review(const review_record& review) {
  return object_writer{}
      .text("id", review.id)
      .number("attempt", review.attempt)
      .text("reviewer", to_string(review.reviewer))
      .text("decision", to_string(review.decision))
      .text("reason", review.reason)
      .done();
}

} // namespace

std::string encode_call_report(const call_report& report) {
  object_writer out;
  out.raw("decision", encode_explain_answer(report.evaluation, report.sandbox))
      .raw("reviews", list(report.reviews, encode_review))
      .raw("attempts", list(report.attempts, encode_attempt))
      .text("stdout", report.output.stdout_text)
      .text("stderr", report.output.stderr_text)
      .text("aggregated", report.output.aggregated)
      .number("truncated_bytes", static_cast<std::int64_t>(report.output.truncated_bytes))
      .text("ending", to_string(report.ending))
      .text_unless_empty("message", report.message);
  if (report.failure) out.raw("failure", encode_failure(*report.failure));
  return out.number("exit_status", exit_status(report)).done();
}

} // namespace gatehouse
