#include "config/profile_table.hpp"
#include "config/settings_file.hpp"
#include "config/settings_words.hpp"
#include "policy/rules/call_limits.hpp"

#include <algorithm>

namespace gatehouse::config {
namespace {

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string::npos;
}

/// One element of a pattern: `{token = "x"}` or `{any_of = ["x", "y"]}`.
std::vector<std::string> read_rule_token(toml_reader& reader, const toml_value& value) {
  const char* remedy = "Write { token = \"git\" } or { any_of = [\"push\", \"pull\"] }.";
  const auto* table = value.table();
  if (!table) {
    reader.fail(value, "a pattern element must be a table", remedy);
    return {};
  }
  reader.warn_unknown(*table, "pattern.", {"token", "any_of"});
  const auto token = reader.string(*table, "token");
  auto any_of = reader.strings(*table, "any_of");
  if (token.has_value() == (find(*table, "any_of") != nullptr)) {
    reader.fail(value, "a pattern element needs exactly one of `token` and `any_of`", remedy);
    return {};
  }
  std::vector<std::string> words;
  if (token) words.push_back(token->value);
  for (auto& word : any_of)
    words.push_back(std::move(word.value));
  if (words.empty() || std::any_of(words.begin(), words.end(), is_blank))
    reader.fail(value, "a pattern element holds no word, or a blank one", remedy);
  return words;
}

void read_rule(toml_reader& reader, const toml_value& value,
               std::vector<policy::prefix_rule>& rules) {
  const auto* table = value.table();
  if (!table) {
    reader.fail(value, "a rule of prefix_rules must be a table",
                "Write { pattern = [{ token = \"rm\" }], decision = \"forbidden\" }.");
    return;
  }
  reader.warn_unknown(*table, "rules.prefix_rules.",
                      {"pattern", "decision", "justification", "canonical_matching"});
  policy::prefix_rule rule;
  rule.layer = policy::rule_layer::requirements;
  rule.where = {reader.file, value.line, value.column};
  const auto* pattern = find(*table, "pattern");
  if (!pattern || !pattern->array() || pattern->array()->empty()) {
    reader.fail(value, "the rule needs a non-empty `pattern`",
                "Write pattern = [{ token = \"rm\" }].");
    return;
  }
  if (const auto words = pattern->array()->size(); words > policy::most_pattern_words) {
    reader.fail(*pattern,
                "the `pattern` has " + std::to_string(words) + " words, more than " +
                    std::to_string(policy::most_pattern_words),
                "Name the command by its first words.");
    return;
  }
  for (const auto& element : *pattern->array())
    rule.pattern.push_back(read_rule_token(reader, element));
  const auto word = reader.string(*table, "decision");
  const auto decision = word ? decision_from(word->value) : std::nullopt;
  if (!decision || *decision == decision::allow)
    reader.fail(value, "the rule needs `decision` \"prompt\" or \"forbidden\"",
                "Requirements can only tighten: remove the rule or choose one of the two.");
  rule.decision = decision.value_or(decision::forbidden);
  if (auto text = reader.string(*table, "justification")) {
    if (is_blank(text->value))
      reader.fail(value, "the rule's `justification` is blank", "Say why, or remove the key.");
    rule.justification = std::move(text->value);
  }
  if (const auto canonical = reader.boolean(*table, "canonical_matching"))
    rule.canonical = canonical->value;
  if (reader.failure) return;
  const auto heads = rule.pattern.front();
  for (const auto& head : heads) {
    rule.pattern.front() = {head};
    rules.push_back(rule);
  }
}

void read_rules(toml_reader& reader, const toml_table& root, requirements& required) {
  const auto* rules = reader.table(root, "rules");
  if (!rules) return;
  required.default_rule_sandbox = read_rule_sandbox(reader, *rules);
  reader.warn_unknown(*rules, "rules.", {"default_sandbox", "prefix_rules"});
  const auto* list = find(*rules, "prefix_rules");
  if (!list && required.default_rule_sandbox) return;
  if (!list || !list->array() || list->array()->empty()) {
    reader.fail(list ? *list : *find(root, "rules"),
                "[rules] needs a non-empty array `prefix_rules`",
                "Add a rule, or remove the table.");
    return;
  }
  for (const auto& rule : *list->array())
    read_rule(reader, rule, required.rules);
}

void read_denied_reads(toml_reader& reader, const toml_table& root, requirements& required) {
  const auto* permissions = reader.table(root, "permissions");
  const auto* files = permissions ? reader.table(*permissions, "filesystem") : nullptr;
  if (!files) return;
  const auto* list = find(*files, "deny_read");
  for (const auto& key : reader.strings(*files, "deny_read"))
    if (auto path = read_denied_path(reader, *list, key.value))
      required.denied_reads.push_back({{std::move(*path), access::deny, false}, key.from});
}

/// A demand of a newer version must stop us, not be skipped.
void refuse_unknown(toml_reader& reader, const toml_table& table, const std::string& where,
                    std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : table)
    if (std::find(known.begin(), known.end(), name) == known.end())
      reader.fail(value, "the requirement `" + where + name + "` is not understood",
                  "Correct its name, or remove it if it is not meant for this version.");
}

} // namespace

result<requirements_file> read_requirements(std::string_view text, const std::string& file,
                                            const std::string& user_home) {
  auto root = parse_toml(text, file);
  if (!root) return root.error();
  toml_reader reader{layer::requirements, file, user_home};
  requirements required;
  required.file = file;
  if (const auto* policies = find(*root, "allowed_approval_policies")) {
    if (!policies->array() || policies->array()->empty())
      reader.fail(*policies, "`allowed_approval_policies` must be a non-empty array",
                  "Write allowed_approval_policies = [\"untrusted\", \"on-request\"].");
    else
      for (const auto& item : *policies->array())
        if (auto policy = read_approval_policy(reader, item))
          required.allowed_approval_policies.push_back(*policy);
  }
  required.allowed_profiles = reader.strings(*root, "allowed_profiles");
  if (const auto* profiles = find(*root, "allowed_profiles");
      profiles && required.allowed_profiles.empty())
    reader.fail(*profiles, "`allowed_profiles` must be a non-empty array of names",
                "Write allowed_profiles = [\"read-only\", \"workspace-write\"].");
  required.allow_login_shell = reader.boolean(*root, "allow_login_shell");
  required.protected_names = read_protected_names(reader, *root);
  if (const auto* features = reader.table(*root, "features")) {
    required.additional_permissions = reader.boolean(*features, "additional_permissions");
    refuse_unknown(reader, *features, "features.", {"additional_permissions"});
  }
  if (const auto* sandbox = reader.table(*root, "sandbox")) {
    required.backend = read_backend(reader, *sandbox);
    if (required.backend && required.backend->value != sandbox_backend::none)
      reader.fail(*find(*sandbox, "backend"),
                  "a requirement may only demand the platform's backend",
                  "Write backend = \"platform\".");
    refuse_unknown(reader, *sandbox, "sandbox.", {"backend"});
  }
  read_denied_reads(reader, *root, required);
  read_rules(reader, *root, required);
  refuse_unknown(reader, *root, "",
                 {"allowed_approval_policies", "allowed_profiles", "allow_login_shell",
                  "protected_names", "features", "sandbox", "permissions", "rules",
                  "audit"}); // which load_audit_settings reads
  if (const auto* permissions = find(*root, "permissions"); permissions && permissions->table()) {
    refuse_unknown(reader, *permissions->table(), "permissions.", {"filesystem"});
    if (const auto* files = find(*permissions->table(), "filesystem"); files && files->table())
      refuse_unknown(reader, *files->table(), "permissions.filesystem.", {"deny_read"});
  }
  if (reader.failure) return *reader.failure;
  return requirements_file{std::move(required), std::move(reader.warnings)};
}

} // namespace gatehouse::config
