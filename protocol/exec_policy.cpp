#include "protocol/exec_policy.hpp"

namespace gatehouse {

std::string_view to_string(decision d) noexcept {
  switch (d) {
  case decision::allow: return "allow";
  case decision::prompt: return "prompt";
  case decision::forbidden: return "forbidden";
  }
  return "forbidden";
}

std::optional<decision> decision_from(std::string_view text) noexcept {
  for (auto d : {decision::allow, decision::prompt, decision::forbidden})
    if (text == to_string(d)) return d;
  return std::nullopt;
}

std::string_view to_string(segment_origin o) noexcept {
  switch (o) {
  case segment_origin::plain: return "plain";
  case segment_origin::nested: return "nested";
  case segment_origin::wrapper: return "wrapper";
  case segment_origin::powershell: return "powershell";
  case segment_origin::opaque: return "opaque";
  }
  return "opaque";
}

std::string_view to_string(segment_judge j) noexcept {
  switch (j) {
  case segment_judge::rule: return "rule";
  case segment_judge::safe: return "safe";
  case segment_judge::danger: return "danger";
  case segment_judge::unmatched: return "unmatched";
  }
  return "unmatched";
}

std::string_view to_string(requirement_kind k) noexcept {
  switch (k) {
  case requirement_kind::skip: return "skip";
  case requirement_kind::needs_approval: return "needs_approval";
  case requirement_kind::forbidden: return "forbidden";
  }
  return "forbidden";
}

std::string_view to_string(refused_by r) noexcept {
  switch (r) {
  case refused_by::policy: return "policy";
  case refused_by::handler: return "handler";
  case refused_by::hook: return "hook";
  }
  return "policy";
}

} // namespace gatehouse
