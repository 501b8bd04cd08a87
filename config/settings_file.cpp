#include "config/settings_file.hpp"

#include "config/profile_table.hpp"
#include "config/settings_words.hpp"

namespace gatehouse::config {
namespace {

/// One or more components joined by single slashes; no `.`, no `..`, no wildcards.
bool is_plain_relative_path(std::string_view path) {
  if (path.find_first_of(std::string_view{"*?[]{}\0", 7}) != std::string_view::npos) return false;
  while (true) {
    const auto end = path.find('/');
    const auto part = path.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == std::string_view::npos) return true;
    path.remove_prefix(end + 1);
  }
}

std::optional<bool> granular_switch(toml_reader& reader, const toml_table& table,
                                    std::string_view name) {
  const auto on = reader.boolean(table, name);
  return on ? std::optional{on->value} : std::nullopt;
}

} // namespace

std::optional<setting<approval_policy>> read_approval_policy(toml_reader& reader,
                                                             const toml_value& value) {
  if (const auto* word = value.string()) {
    if (const auto policy = approval_policy_from(*word))
      return setting<approval_policy>{*policy, reader.at(value)};
    reader.fail(
        value, "`" + *word + "` is not an approval policy",
        "Write \"untrusted\", \"on-request\", \"never\" or { granular = { rules = true } }.");
    return std::nullopt;
  }
  const auto* table = value.table();
  const auto* switches = table ? reader.table(*table, "granular") : nullptr;
  if (!switches || table->size() != 1) {
    reader.fail(
        value, "the approval policy is neither a name nor { granular = {…} }",
        "Write \"untrusted\", \"on-request\", \"never\" or { granular = { rules = true } }.");
    return std::nullopt;
  }
  // A switch that is left out, or whose name is not known, is off.
  approval_policy policy{approval_mode::granular, {}};
  auto& on = policy.granular;
  on.sandbox_approval = granular_switch(reader, *switches, "sandbox_approval").value_or(false);
  on.rules = granular_switch(reader, *switches, "rules").value_or(false);
  on.skill_approval = granular_switch(reader, *switches, "skill_approval").value_or(false);
  on.request_permissions =
      granular_switch(reader, *switches, "request_permissions").value_or(false);
  on.mcp_elicitations = granular_switch(reader, *switches, "mcp_elicitations").value_or(false);
  reader.warn_unknown(
      *switches, "approval_policy.granular.",
      {"sandbox_approval", "rules", "skill_approval", "request_permissions", "mcp_elicitations"});
  return setting<approval_policy>{policy, reader.at(value)};
}

std::optional<setting<policy::rule_sandbox>> read_rule_sandbox(toml_reader& reader,
                                                               const toml_table& rules) {
  const auto word = reader.string(rules, "default_sandbox");
  if (!word) return std::nullopt;
  if (word->value == "keep")
    return setting<policy::rule_sandbox>{policy::rule_sandbox::keep, word->from};
  if (word->value == "bypass")
    return setting<policy::rule_sandbox>{policy::rule_sandbox::bypass, word->from};
  reader.fail(*find(rules, "default_sandbox"),
              "`" + word->value + "` is not a value of rules.default_sandbox",
              "Write \"keep\" (an allow rule keeps the sandbox) or \"bypass\".");
  return std::nullopt;
}

std::optional<setting<sandbox_backend>> read_backend(toml_reader& reader,
                                                     const toml_table& sandbox) {
  const auto word = reader.string(sandbox, "backend");
  if (!word) return std::nullopt;
  if (word->value == "platform") return setting<sandbox_backend>{sandbox_backend::none, word->from};
  const auto backend = sandbox_backend_from(word->value);
  if (backend && *backend != sandbox_backend::none)
    return setting<sandbox_backend>{*backend, word->from};
  reader.fail(*find(sandbox, "backend"), "`" + word->value + "` is not a value of sandbox.backend",
              "Write \"platform\" (what this platform has) or \"landlock\".");
  return std::nullopt;
}

std::vector<setting<std::string>> read_protected_names(toml_reader& reader,
                                                       const toml_table& table) {
  auto names = reader.strings(table, "protected_names");
  for (const auto& name : names)
    if (!is_plain_relative_path(name.value))
      reader.fail(*find(table, "protected_names"),
                  "`" + name.value + "` in protected_names is not a plain name",
                  "Write a name like `.secrets` or `.github/hooks`, without wildcards.");
  return names;
}

namespace {

constexpr std::int64_t one_day_ms = 24 * 60 * 60 * 1000;

std::optional<setting<std::chrono::milliseconds>>
read_milliseconds(toml_reader& reader, const toml_table& table, std::string_view name) {
  const auto number = reader.integer(table, name);
  if (!number) return std::nullopt;
  if (number->value < 1 || number->value > one_day_ms)
    reader.fail(*find(table, name),
                std::string{name} + " must be between 1 and 86400000 milliseconds",
                "Write, for example, " + std::string{name} + " = 10000.");
  return setting<std::chrono::milliseconds>{std::chrono::milliseconds{number->value}, number->from};
}

std::optional<setting<approvals_reviewer>> read_reviewer(toml_reader& reader,
                                                         const toml_table& root) {
  const auto word = reader.string(root, "approvals_reviewer");
  if (!word) return std::nullopt;
  for (const auto known : {approvals_reviewer::user, approvals_reviewer::auto_review})
    if (word->value == to_string(known)) return setting<approvals_reviewer>{known, word->from};
  reader.fail(*find(root, "approvals_reviewer"),
              "`" + word->value + "` is not a value of approvals_reviewer",
              "Write \"user\" or \"auto_review\".");
  return std::nullopt;
}

std::optional<setting<review_endpoint>> read_endpoint(toml_reader& reader,
                                                      const toml_table& table) {
  const auto url = reader.string(table, "url");
  setting<review_endpoint> endpoint;
  const auto part = [&](std::string_view name, std::string& into) {
    const auto value = reader.string(table, name);
    if (!value) return;
    into = value->value;
    if (!url)
      reader.fail(*find(table, name), "auto_review." + std::string{name} + " needs auto_review.url",
                  "Set url as well, or leave it out.");
  };
  part("model", endpoint.value.model);
  part("key_env", endpoint.value.key_env);
  part("key_file", endpoint.value.key_file);
  part("ca_file", endpoint.value.ca_file);
  if (!url) return std::nullopt;
  for (const auto* name : {"key_file", "ca_file"})
    if (const auto path = reader.string(table, name); path && !path->value.starts_with('/'))
      reader.fail(*find(table, name),
                  "auto_review." + std::string{name} + " is not an absolute path",
                  "Write the path from / on.");
  if (endpoint.value.model.empty())
    reader.fail(*find(table, "url"), "auto_review.url needs auto_review.model",
                "Name the model that shall review.");
  endpoint.value.url = url->value;
  endpoint.from = url->from;
  return endpoint;
}

void read_auto_review(toml_reader& reader, const toml_table& table, settings_layer& settings) {
  if (const auto* value = find(table, "command")) {
    setting<std::vector<std::string>> command{{}, reader.at(*value)};
    for (auto& word : reader.strings(table, "command"))
      command.value.push_back(std::move(word.value));
    if (command.value.empty() || !command.value.front().starts_with('/'))
      reader.fail(*value, "auto_review.command does not begin with an absolute path",
                  "Write, for example, command = [\"/usr/local/bin/review\", \"--json\"].");
    settings.auto_review_command = std::move(command);
  }
  settings.auto_review_endpoint = read_endpoint(reader, table);
  if (settings.auto_review_endpoint && settings.auto_review_command)
    reader.fail(*find(table, "url"), "auto_review has both a command and a url",
                "Keep the one that shall review.");
  settings.auto_review_timeout = read_milliseconds(reader, table, "timeout_ms");
  settings.strict_auto_review = reader.boolean(table, "strict");
  reader.warn_unknown(
      table, "auto_review.",
      {"command", "url", "model", "key_env", "key_file", "ca_file", "timeout_ms", "strict"});
}

} // namespace

namespace {

std::optional<setting<policy::inherit_environment>> read_inherit(toml_reader& reader,
                                                                 const toml_table& table) {
  const auto word = reader.string(table, "inherit");
  if (!word) return std::nullopt;
  for (const auto known : {policy::inherit_environment::all, policy::inherit_environment::core,
                           policy::inherit_environment::none})
    if (word->value == policy::to_string(known))
      return setting<policy::inherit_environment>{known, word->from};
  reader.fail(*find(table, "inherit"),
              "`" + word->value + "` is not a value of environment.inherit",
              "Write \"all\", \"core\" or \"none\".");
  return std::nullopt;
}

std::vector<setting<std::string>>
read_variable_patterns(toml_reader& reader, const toml_table& table, std::string_view key) {
  auto patterns = reader.strings(table, key);
  for (const auto& pattern : patterns)
    if (pattern.value.empty() || pattern.value.find('=') != std::string::npos)
      reader.fail(*find(table, key),
                  "`" + pattern.value + "` in environment." + std::string{key} +
                      " matches no variable",
                  "Write a name, with * and ? where any characters may stand.");
  return patterns;
}

void read_variables(toml_reader& reader, const toml_table& table, settings_layer& settings) {
  settings.inherit_variables = read_inherit(reader, table);
  settings.excluded_variables = read_variable_patterns(reader, table, "exclude");
  if (const auto* value = find(table, "include")) {
    setting<std::vector<std::string>> included{{}, reader.at(*value)};
    for (auto& pattern : read_variable_patterns(reader, table, "include"))
      included.value.push_back(std::move(pattern.value));
    if (included.value.empty())
      reader.fail(*value, "environment.include lists nothing",
                  "Leave it out, or write inherit = \"none\".");
    settings.included_variables = std::move(included);
  }
  settings.kept_variables = reader.strings(table, "keep");
  reader.warn_unknown(table, "environment.", {"inherit", "include", "exclude", "keep"});
}

} // namespace

result<settings_file> read_settings(std::string_view text, const std::string& file, layer from,
                                    const std::string& user_home) {
  auto root = parse_toml(text, file);
  if (!root) return root.error();
  toml_reader reader{from, file, user_home};
  settings_layer settings;
  if (const auto* value = find(*root, "approval_policy"))
    settings.approval = read_approval_policy(reader, *value);
  settings.default_permissions = reader.string(*root, "default_permissions");
  settings.allow_login_shell = reader.boolean(*root, "allow_login_shell");
  settings.default_timeout = read_milliseconds(reader, *root, "default_timeout_ms");
  settings.reviewer = read_reviewer(reader, *root);
  if (const auto* review = reader.table(*root, "auto_review"))
    read_auto_review(reader, *review, settings);
  if (const auto* rules = reader.table(*root, "rules")) {
    settings.default_rule_sandbox = read_rule_sandbox(reader, *rules);
    reader.warn_unknown(*rules, "rules.", {"default_sandbox"});
  }
  if (const auto* features = reader.table(*root, "features")) {
    settings.additional_permissions = reader.boolean(*features, "additional_permissions");
    reader.warn_unknown(*features, "features.", {"additional_permissions"});
  }
  if (const auto* sandbox = reader.table(*root, "sandbox")) {
    settings.backend = read_backend(reader, *sandbox);
    reader.warn_unknown(*sandbox, "sandbox.", {"backend"});
  }
  if (const auto* environment = reader.table(*root, "environment"))
    read_variables(reader, *environment, settings);
  if (const auto* terminals = reader.table(*root, "terminals")) {
    settings.terminal_hard_limit = read_milliseconds(reader, *terminals, "hard_limit_ms");
    settings.terminal_idle_limit = read_milliseconds(reader, *terminals, "idle_limit_ms");
    reader.warn_unknown(*terminals, "terminals.", {"hard_limit_ms", "idle_limit_ms"});
  }
  // [audit] is read by load_audit_settings().
  if (const auto* audit = find(*root, "audit"); audit && from == layer::project)
    reader.warn(*audit, "`audit` is ignored: only the user's own configuration sets it");
  // [environments] is read by load_environments().
  if (const auto* named = find(*root, "environments"); named && from == layer::project)
    reader.warn(*named, "`environments` is ignored: only the user's own configuration sets it");
  settings.protected_names = read_protected_names(reader, *root);
  if (const auto* permissions = reader.table(*root, "permissions"))
    settings.profiles = read_profiles(reader, *permissions);
  reader.warn_unknown(*root, "",
                      {"approval_policy", "default_permissions", "allow_login_shell",
                       "default_timeout_ms", "rules", "features", "protected_names", "permissions",
                       "approvals_reviewer", "auto_review", "sandbox", "environment", "terminals",
                       "audit", "environments"});
  if (reader.failure) return *reader.failure;
  return settings_file{std::move(settings), std::move(reader.warnings)};
}

} // namespace gatehouse::config
