#include "protocol/check_json.hpp"

#include "protocol/json_writer.hpp"

#include <algorithm>

namespace gatehouse {
namespace {

void write_match(json_writer& json, const checked_match& match) {
  json.open('{');
  json.key("prefixRuleMatch");
  json.open('{');
  json.key("matchedPrefix");
  json.open('[');
  for (const auto& word : match.matched_prefix) {
    json.item();
    json.text(word);
  }
  json.close(']');
  json.key("decision");
  json.text(to_string(match.decision));
  for (const auto& [name, value] : {std::pair{"resolvedProgram", &match.resolved_program},
                                    std::pair{"justification", &match.justification}}) {
    if (!value->empty()) json.field(name, *value);
  }
  json.close('}');
  json.close('}');
}

} // namespace

std::string encode_check(std::span<const checked_match> matches, bool pretty) {
  json_writer json{pretty ? json_layout::indented : json_layout::compact};
  json.open('{');
  json.key("matchedRules");
  json.open('[');
  auto strictest = decision::allow;
  for (const auto& match : matches) {
    strictest = std::max(strictest, match.decision);
    json.item();
    write_match(json, match);
  }
  json.close(']');
  if (!matches.empty()) {
    json.key("decision");
    json.text(to_string(strictest));
  }
  json.close('}');
  return std::move(json).take() + "\n";
}

} // namespace gatehouse
