#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/settings_options.hpp"
#include "config/audit_settings.hpp"
#include "config/environments.hpp"
#include "config/profile_resolver.hpp"
#include "protocol/approval_policy_json.hpp"
#include "protocol/json_quote.hpp"
#include "protocol/profile_json.hpp"
#include "protocol/shell_quote.hpp"
#include "protocol/utf8.hpp"
#include "protocol/visible_text.hpp"

#include <algorithm>

namespace gatehouse::cli {
namespace {

/// One line of the table.
struct row {
  std::string key;
  std::string json; ///< the value as JSON
  std::string text; ///< the value for people
  config::origin from;
};

std::string quoted(std::string_view text) {
  return json_quote(to_valid_utf8(text));
}

row text_row(std::string key, const config::setting<std::string>& setting) {
  return {std::move(key), quoted(setting.value), setting.value, setting.from};
}

row switch_row(std::string key, const config::setting<bool>& setting) {
  const std::string text = setting.value ? "true" : "false";
  return {std::move(key), text, text, setting.from};
}

std::string words_of(const policy::prefix_rule& rule) {
  std::string text;
  for (const auto& alternatives : rule.pattern) {
    std::string token;
    for (const auto& word : alternatives)
      token += (token.empty() ? "" : "|") + word;
    text += (text.empty() ? "" : " ") + token;
  }
  return text;
}

std::vector<row> rows_of(const start_point& start, const config::audit_settings& audit,
                         const config::named_environments& environments) {
  const auto& settings = start.loaded.settings;
  std::vector<row> rows;
  rows.push_back({"approval_policy", encode_approval_policy(settings.approval.value),
                  describe(settings.approval.value), settings.approval.from});
  if (start.given_profile) {
    const auto given = encode_profile(*start.given_profile);
    rows.push_back({"default_permissions", given, given, {config::layer::command_line, {}, 0}});
  } else {
    rows.push_back(text_row("default_permissions", settings.default_permissions));
  }
  rows.push_back(switch_row("allow_login_shell", settings.allow_login_shell));
  const auto timeout = std::to_string(settings.default_timeout.value.count());
  rows.push_back({"default_timeout_ms", timeout, timeout, settings.default_timeout.from});
  const std::string sandbox =
      settings.default_rule_sandbox.value == policy::rule_sandbox::keep ? "keep" : "bypass";
  rows.push_back(
      {"rules.default_sandbox", quoted(sandbox), sandbox, settings.default_rule_sandbox.from});
  rows.push_back(switch_row("features.additional_permissions", settings.additional_permissions));
  const auto backend = settings.backend.value == sandbox_backend::none
                           ? std::string{"platform"}
                           : std::string{to_string(settings.backend.value)};
  rows.push_back({"sandbox.backend", quoted(backend), backend, settings.backend.from});
  rows.push_back({"approvals_reviewer", quoted(to_string(settings.reviewer.value)),
                  std::string{to_string(settings.reviewer.value)}, settings.reviewer.from});
  const auto reviewer = shell_join(settings.auto_review_command.value);
  rows.push_back(
      {"auto_review.command", quoted(reviewer), reviewer, settings.auto_review_command.from});
  const auto& endpoint = settings.auto_review_endpoint;
  rows.push_back(
      {"auto_review.url", quoted(endpoint.value.url), endpoint.value.url, endpoint.from});
  rows.push_back(
      {"auto_review.model", quoted(endpoint.value.model), endpoint.value.model, endpoint.from});
  for (const auto& [key, text] : {std::pair{"auto_review.key_env", endpoint.value.key_env},
                                  std::pair{"auto_review.key_file", endpoint.value.key_file},
                                  std::pair{"auto_review.ca_file", endpoint.value.ca_file}})
    if (!text.empty()) rows.push_back({key, quoted(text), text, endpoint.from});
  const auto limit = std::to_string(settings.auto_review_timeout.value.count());
  rows.push_back({"auto_review.timeout_ms", limit, limit, settings.auto_review_timeout.from});
  rows.push_back(switch_row("auto_review.strict", settings.strict_auto_review));
  const std::string on_failure{to_string(audit.on_failure.value)};
  rows.push_back(switch_row("audit.enabled", audit.enabled));
  rows.push_back({"audit.on_failure", quoted(on_failure), on_failure, audit.on_failure.from});
  rows.push_back(switch_row("audit.flush", audit.flush));
  for (const auto& [key, number] : {std::pair{"audit.keep_days", audit.keep_days},
                                    std::pair{"audit.keep_megabytes", audit.keep_megabytes}}) {
    const auto text = std::to_string(number.value);
    rows.push_back({key, text, text, number.from});
  }
  for (const auto& name : settings.protected_names)
    rows.push_back(text_row("protected_names", name));
  const std::string inherit{policy::to_string(settings.inherit_variables.value)};
  rows.push_back(
      {"environment.inherit", quoted(inherit), inherit, settings.inherit_variables.from});
  for (const auto& pattern : settings.included_variables.value)
    rows.push_back(
        {"environment.include", quoted(pattern), pattern, settings.included_variables.from});
  for (const auto& pattern : settings.excluded_variables)
    rows.push_back(text_row("environment.exclude", pattern));
  for (const auto& name : settings.kept_variables)
    rows.push_back(text_row("environment.keep", name));
  for (const auto& [key, wait] :
       {std::pair{"terminals.hard_limit_ms", settings.terminal_hard_limit},
        std::pair{"terminals.idle_limit_ms", settings.terminal_idle_limit}}) {
    const auto text = std::to_string(wait.value.count());
    rows.push_back({key, text, wait.value.count() == 0 ? "none" : text, wait.from});
  }
  for (const auto& [name, one] : environments.by_name)
    for (const auto& [key, text] :
         {std::pair{".exec_server", one.exec_server}, std::pair{".cwd", one.cwd},
          std::pair{".token_file", one.token_file}})
      if (!text.empty())
        rows.push_back({"environments." + name + key, quoted(text), text, one.from});
  for (const auto& [name, profile] : settings.profiles)
    rows.push_back(
        {"permissions." + name, quoted(profile.description), profile.description, profile.from});
  const auto& required = settings.required;
  for (const auto& policy : required.allowed_approval_policies)
    rows.push_back({"allowed_approval_policies", encode_approval_policy(policy.value),
                    describe(policy.value), policy.from});
  for (const auto& name : required.allowed_profiles)
    rows.push_back(text_row("allowed_profiles", name));
  for (const auto& denied : required.denied_reads) {
    const auto path = describe(denied.value.path);
    rows.push_back({"permissions.filesystem.deny_read", quoted(path), path, denied.from});
  }
  for (const auto& rule : required.rules) {
    const auto text = std::string{to_string(rule.decision)} + " " + words_of(rule);
    rows.push_back({"rules.prefix_rules",
                    quoted(text),
                    text,
                    {config::layer::requirements, rule.where.file, rule.where.line}});
  }
  return rows;
}

std::string settings_as_json(const std::vector<row>& rows, const config::project& project,
                             const std::vector<std::string>& warnings) {
  std::string out = "{\"settings\":[";
  for (const auto& r : rows) {
    out += out.back() == '[' ? "{" : ",{";
    out += "\"key\":" + quoted(r.key) + ",\"value\":" + r.json +
           ",\"layer\":" + quoted(to_string(r.from.from));
    if (!r.from.file.empty())
      out += ",\"file\":" + quoted(r.from.file) + ",\"line\":" + std::to_string(r.from.line);
    out += '}';
  }
  out += "],\"project\":{\"root\":" + quoted(project.root) +
         ",\"has_folder\":" + (project.has_folder ? "true" : "false") +
         ",\"trusted\":" + (project.trusted ? "true" : "false") + "},\"warnings\":[";
  for (const auto& warning : warnings)
    out += (out.back() == '[' ? "" : ",") + quoted(warning);
  return out + "]}\n";
}

std::string as_text(const std::vector<row>& rows, const config::project& project) {
  std::size_t width = 0;
  for (const auto& r : rows)
    width = std::max(width, r.key.size() + r.text.size() + 3);
  std::string out;
  for (const auto& r : rows) {
    auto line = visible_words(r.key + " = " + r.text);
    line.resize(std::max(line.size(), std::min<std::size_t>(width, 60)), ' ');
    out += line + "  # " + visible_words(describe(r.from)) + "\n";
  }
  return out + "project = " + visible_words(project.root) + "  # " +
         (project.has_folder ? (project.trusted ? "trusted" : "not trusted: .gatehouse left out")
                             : "no .gatehouse folder") +
         "\n";
}

} // namespace

int config_command(arguments given) {
  const std::string_view name{given.empty() ? "" : given.front()};
  if (name == "--help" || name == "-h") return open_command_line("config show", given).status;
  if (name != "show") return wrong_usage_of("config show", "`config` knows only `show`");
  const auto words = open_command_line("config show", given.subspan(1));
  if (!words.given) return words.status;
  const auto& read = words.given;
  const auto start = load_for(*read);
  if (!start) return fail(start.error(), exit_wrong_usage);
  const auto audit = config::load_audit_settings(start->where);
  if (!audit) return fail(audit.error(), exit_wrong_usage);
  const auto environments = config::load_environments(start->where);
  if (!environments) return fail(environments.error(), exit_wrong_usage);
  // What no command could run under is no setting in force.
  if (const auto profile = choose_profile(*start); !profile)
    return fail(profile.error(), exit_wrong_usage);
  const auto rows = rows_of(*start, *audit, *environments);
  auto warnings = start->loaded.warnings;
  for (const auto* more : {&audit->warnings, &environments->warnings})
    warnings.insert(warnings.end(), more->begin(), more->end());
  const auto& project = start->loaded.project;
  if (read->has("--json"))
    return print(settings_as_json(rows, project, warnings)) ? exit_ok : exit_failed;
  warn(warnings);
  return print_for_people(as_text(rows, project)) ? exit_ok : exit_failed;
}

} // namespace gatehouse::cli
