#include "protocol/review.hpp"

#include "protocol/json_writer.hpp"
#include "protocol/profile_json.hpp"

#include <utility>

namespace gatehouse {

std::string_view to_string(review_decision d) noexcept {
  switch (d) {
  case review_decision::approved: return "approved";
  case review_decision::approved_execpolicy_amendment: return "approved_execpolicy_amendment";
  case review_decision::approved_for_session: return "approved_for_session";
  case review_decision::network_policy_amendment: return "network_policy_amendment";
  case review_decision::denied: return "denied";
  case review_decision::timed_out: return "timed_out";
  case review_decision::abort: return "abort";
  }
  return "denied";
}

bool is_approval(review_decision d) noexcept {
  return d == review_decision::approved || d == review_decision::approved_execpolicy_amendment ||
         d == review_decision::approved_for_session;
}

std::string_view to_string(reviewer_kind k) noexcept {
  switch (k) {
  case reviewer_kind::hook: return "hook";
  case reviewer_kind::guardian: return "guardian";
  case reviewer_kind::user: return "user";
  case reviewer_kind::none: return "none";
  }
  return "none";
}

std::string_view to_string(grant_scope s) noexcept {
  return s == grant_scope::session ? "session" : "turn";
}

std::string encode_given_permissions(const given_permissions& given) {
  json_writer json;
  json.open('{');
  json.key("permissions");
  json.raw(encode_additional_permissions(given.permissions));
  json.field("scope", to_string(given.scope));
  if (given.strict_auto_review) {
    json.key("strict_auto_review");
    json.boolean(true);
  }
  json.close('}');
  return std::move(json).take();
}

} // namespace gatehouse
