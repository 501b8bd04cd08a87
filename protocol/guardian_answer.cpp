#include "protocol/guardian_answer.hpp"

#include "protocol/json_tree.hpp"

namespace gatehouse {

std::string_view to_string(risk_level r) noexcept {
  switch (r) {
  case risk_level::low: return "low";
  case risk_level::medium: return "medium";
  case risk_level::high: return "high";
  case risk_level::critical: return "critical";
  }
  return "critical";
}

std::string_view to_string(user_authorization a) noexcept {
  switch (a) {
  case user_authorization::unknown: return "unknown";
  case user_authorization::low: return "low";
  case user_authorization::medium: return "medium";
  case user_authorization::high: return "high";
  }
  return "unknown";
}

std::string_view guardian_answer_schema() noexcept {
  return R"({"type":"object","additionalProperties":false,)"
         R"("required":["outcome","risk_level","user_authorization","rationale"],)"
         R"("properties":{"outcome":{"type":"string","enum":["allow","deny"]},)"
         R"("risk_level":{"type":"string","enum":["low","medium","high","critical"]},)"
         R"("user_authorization":{"type":"string","enum":["unknown","low","medium","high"]},)"
         R"("rationale":{"type":"string"}}})";
}

result<guardian_assessment> decode_guardian_answer(std::string_view text) {
  const json_source source{"the automatic reviewer's answer", errc::invalid_request,
                           "let the reviewer answer with one JSON object of the given schema",
                           64 * 1024};
  const auto tree = parse_json(text, source);
  if (!tree) return tree.error();
  const auto fields =
      json_node{*tree, source}.object({"outcome", "risk_level", "user_authorization", "rationale"});
  if (!fields) return fields.error();

  guardian_assessment assessment;
  const auto outcome = fields->need("outcome");
  if (!outcome) return outcome.error();
  const auto word = outcome->word({"allow", "deny"});
  if (!word) return word.error();
  assessment.allow = *word == 0;
  if (const auto risk = fields->find("risk_level")) {
    const auto level = risk->word({"low", "medium", "high", "critical"});
    if (!level) return level.error();
    assessment.risk = static_cast<risk_level>(*level);
  } else if (assessment.allow) {
    return fields->wrong("an allow without risk_level");
  }
  if (const auto authorization = fields->find("user_authorization")) {
    const auto level = authorization->word({"unknown", "low", "medium", "high"});
    if (!level) return level.error();
    assessment.authorization = static_cast<user_authorization>(*level);
  }
  auto rationale = fields->optional_text("rationale");
  if (!rationale) return rationale.error();
  assessment.rationale = *std::move(rationale);
  return assessment;
}

} // namespace gatehouse
