#include "protocol/check_json.hpp"

#include "protocol/json_quote.hpp"
#include "protocol/utf8.hpp"

#include <algorithm>

namespace gatehouse {
namespace {

/// Writes JSON in one of two layouts.
class writer {
public:
  explicit writer(bool pretty) : pretty_{pretty} {}

  void open(char bracket) {
    out_ += bracket;
    ++depth_;
    first_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!first_) new_line(); // an empty list stays `[]`
    out_ += bracket;
    first_ = false;
  }
  void item() {
    if (!first_) out_ += ',';
    new_line();
    first_ = false;
  }
  void key(std::string_view name) {
    item();
    ((out_ += '"') += name) += pretty_ ? "\": " : "\":";
  }
  void text(std::string_view value) { out_ += json_quote(to_valid_utf8(value)); }

  std::string finish() && { return std::move(out_) + "\n"; }

private:
  void new_line() {
    if (!pretty_) return;
    out_ += '\n';
    out_.append(depth_ * 2, ' ');
  }

  bool pretty_;
  std::string out_;
  std::size_t depth_ = 0;
  bool first_ = true;
};

void write_match(writer& json, const checked_match& match) {
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
    if (value->empty()) continue;
    json.key(name);
    json.text(*value);
  }
  json.close('}');
  json.close('}');
}

} // namespace

std::string encode_check(std::span<const checked_match> matches, bool pretty) {
  writer json{pretty};
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
  return std::move(json).finish();
}

} // namespace gatehouse
