#include "config/layers.hpp"

#include "config/profile_resolver.hpp"
#include "config/settings_file.hpp"
#include "config/text_file.hpp"
#include "policy/strictness.hpp"

#include <algorithm>

namespace gatehouse::config {
namespace {

using warnings_list = std::vector<std::string>;

void append(warnings_list& to, warnings_list from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

result<settings_layer> read_layer(const std::string& file, layer from, const std::string& home,
                                  warnings_list& warnings) {
  const auto text = read_text_file(file);
  if (!text) return text.error();
  if (!*text) return settings_layer{};
  auto read = read_settings(**text, file, from, home);
  if (!read) return read.error();
  append(warnings, std::move(read->warnings));
  return std::move(read->settings);
}

template <class T>
void override_with(setting<T>& value, const std::optional<setting<T>>& higher) {
  if (higher) value = *higher;
}

/// Puts a layer that may change anything (system, user, command line) on top.
void put_on_top(effective_settings& settings, settings_layer layer) {
  override_with(settings.approval, layer.approval);
  override_with(settings.default_permissions, layer.default_permissions);
  override_with(settings.allow_login_shell, layer.allow_login_shell);
  override_with(settings.default_timeout, layer.default_timeout);
  override_with(settings.default_rule_sandbox, layer.default_rule_sandbox);
  override_with(settings.additional_permissions, layer.additional_permissions);
  override_with(settings.backend, layer.backend);
  override_with(settings.reviewer, layer.reviewer);
  override_with(settings.auto_review_command, layer.auto_review_command);
  override_with(settings.auto_review_endpoint, layer.auto_review_endpoint);
  override_with(settings.auto_review_timeout, layer.auto_review_timeout);
  override_with(settings.strict_auto_review, layer.strict_auto_review);
  for (auto& name : layer.protected_names)
    settings.protected_names.push_back(std::move(name));
  override_with(settings.inherit_variables, layer.inherit_variables);
  override_with(settings.included_variables, layer.included_variables);
  override_with(settings.terminal_hard_limit, layer.terminal_hard_limit);
  override_with(settings.terminal_idle_limit, layer.terminal_idle_limit);
  for (auto& pattern : layer.excluded_variables)
    settings.excluded_variables.push_back(std::move(pattern));
  for (auto& name : layer.kept_variables)
    settings.kept_variables.push_back(std::move(name));
  for (auto& profile : layer.profiles)
    settings.profiles.insert_or_assign(profile.name, std::move(profile));
}

/// Takes a project's value only when it is surely tighter; says so when it is not.
template <class T, class Tighter>
void tighten(setting<T>& value, const std::optional<setting<T>>& wanted, Tighter is_tighter,
             std::string_view key, warnings_list& warnings) {
  if (!wanted) return;
  if (is_tighter(wanted->value, value.value))
    value = *wanted;
  else
    warnings.push_back(describe(wanted->from) + ": `" + std::string{key} +
                       "` is left as it is by " + describe(value.from) +
                       ": a project may only tighten it");
}

void put_project(effective_settings& settings, settings_layer layer, const std::string& root,
                 const std::string& home, warnings_list& warnings) {
  constexpr auto only_false = [](bool wanted, bool now) { return !wanted || now; };
  constexpr auto only_less = [](auto wanted, auto now) { return wanted <= now; };
  tighten(settings.approval, layer.approval, policy::is_no_looser, "approval_policy", warnings);
  tighten(settings.allow_login_shell, layer.allow_login_shell, only_false, "allow_login_shell",
          warnings);
  tighten(settings.default_timeout, layer.default_timeout, only_less, "default_timeout_ms",
          warnings);
  tighten(
      settings.default_rule_sandbox, layer.default_rule_sandbox,
      [](auto wanted, auto now) { return wanted == policy::rule_sandbox::keep || wanted == now; },
      "rules.default_sandbox", warnings);
  tighten(settings.additional_permissions, layer.additional_permissions, only_false,
          "features.additional_permissions", warnings);
  // No other backend holds more than the platform's own.
  tighten(
      settings.backend, layer.backend,
      [](auto wanted, auto now) { return wanted == sandbox_backend::none || wanted == now; },
      "sandbox.backend", warnings);
  tighten(
      settings.reviewer, layer.reviewer,
      [](auto wanted, auto now) { return wanted == approvals_reviewer::user || wanted == now; },
      "approvals_reviewer", warnings);
  // A project must not choose a program that runs outside the sandbox and answers for the user.
  tighten(
      settings.auto_review_command, layer.auto_review_command,
      [](const auto& wanted, const auto& now) { return wanted == now; }, "auto_review.command",
      warnings);
  tighten(
      settings.auto_review_endpoint, layer.auto_review_endpoint,
      [](const auto& wanted, const auto& now) { return wanted == now; }, "auto_review.url",
      warnings);
  tighten(settings.auto_review_timeout, layer.auto_review_timeout, only_less,
          "auto_review.timeout_ms", warnings);
  tighten(
      settings.strict_auto_review, layer.strict_auto_review,
      [](bool wanted, bool now) { return wanted || !now; }, "auto_review.strict", warnings);
  tighten(
      settings.inherit_variables, layer.inherit_variables,
      [](auto wanted, auto now) { return wanted >= now; }, "environment.inherit", warnings);
  tighten(
      settings.included_variables, layer.included_variables,
      [](const auto& wanted, const auto& now) { return now.empty() || wanted == now; },
      "environment.include", warnings);
  constexpr auto shorter = [](auto wanted, auto now) { return now.count() == 0 || wanted <= now; };
  tighten(settings.terminal_hard_limit, layer.terminal_hard_limit, shorter,
          "terminals.hard_limit_ms", warnings);
  tighten(settings.terminal_idle_limit, layer.terminal_idle_limit, shorter,
          "terminals.idle_limit_ms", warnings);
  for (auto& pattern : layer.excluded_variables)
    settings.excluded_variables.push_back(std::move(pattern));
  for (auto& name : layer.protected_names)
    settings.protected_names.push_back(std::move(name));
  for (auto& profile : layer.profiles) {
    const auto known = settings.profiles.find(profile.name);
    if (known != settings.profiles.end())
      warnings.push_back(describe(profile.from) + ": the profile `" + profile.name +
                         "` is left as " + describe(known->second.from) + " defines it");
    else
      settings.profiles.emplace(profile.name, std::move(profile));
  }
  if (!layer.kept_variables.empty())
    warnings.push_back(describe(layer.kept_variables.front().from) +
                       ": `environment.keep` is ignored: a project gets no credentials");
  settings.project_ceiling = settings.default_permissions.value;
  if (!layer.default_permissions) return;
  const auto now = resolve_profile(settings, settings.default_permissions.value, {root}, home);
  const auto wanted = resolve_profile(settings, layer.default_permissions->value, {root}, home);
  tighten(
      settings.default_permissions, layer.default_permissions,
      [&](const auto&, const auto&) {
        return now && wanted && policy::is_no_wider(wanted->profile, now->profile);
      },
      "default_permissions", warnings);
}

template <class T>
void require_value(setting<T>& value, const std::optional<setting<T>>& demanded, T tight) {
  if (demanded && demanded->value == tight && value.value != tight) value = *demanded;
}

} // namespace

setting<approval_policy> constrain_approval(const effective_settings& settings,
                                            const setting<approval_policy>& wanted) {
  const auto& policies = settings.required.allowed_approval_policies;
  const auto allows = [&](const auto& allowed) {
    return policy::is_no_looser(wanted.value, allowed.value);
  };
  if (policies.empty() || std::any_of(policies.begin(), policies.end(), allows)) return wanted;
  const auto tighter = std::find_if(policies.begin(), policies.end(), [&](const auto& allowed) {
    return policy::is_no_looser(allowed.value, wanted.value);
  });
  return tighter != policies.end() ? *tighter : policies.front();
}

void apply_requirements(effective_settings& settings, requirements demanded,
                        const std::string& root, const std::string& home,
                        std::vector<std::string>& warnings) {
  settings.required = std::move(demanded);
  const auto& required = settings.required;
  require_value(settings.allow_login_shell, required.allow_login_shell, false);
  require_value(settings.default_rule_sandbox, required.default_rule_sandbox,
                policy::rule_sandbox::keep);
  require_value(settings.additional_permissions, required.additional_permissions, false);
  if (required.backend && settings.backend.value != sandbox_backend::none) {
    warnings.push_back("the backend `" + std::string{to_string(settings.backend.value)} + "` of " +
                       describe(settings.backend.from) + " is not allowed by " +
                       describe(required.backend->from) + ": the platform's is used");
    settings.backend = *required.backend;
  }
  for (const auto& name : required.protected_names)
    settings.protected_names.push_back(name);

  const auto policy = constrain_approval(settings, settings.approval);
  if (policy.value != settings.approval.value) {
    warnings.push_back("the approval policy `" + describe(settings.approval.value) + "` of " +
                       describe(settings.approval.from) + " is not allowed by " +
                       describe(policy.from) + ": `" + describe(policy.value) + "` is used");
    settings.approval = policy;
  }

  // A profile that was asked for on the command line is refused where it is resolved, not replaced.
  const auto& profiles = required.allowed_profiles;
  auto& chosen = settings.default_permissions;
  if (!profiles.empty() && chosen.from.from != layer::command_line &&
      !resolve_profile(settings, chosen.value, {root}, home)) {
    warnings.push_back("the profile `" + chosen.value + "` of " + describe(chosen.from) +
                       " is not allowed by " + describe(profiles.front().from) + ": `" +
                       profiles.front().value + "` is used");
    chosen = profiles.front();
  }
}

result<loaded_settings> load_settings(const locations& where, const std::string& cwd,
                                      const settings_layer& command_line) {
  loaded_settings loaded;
  auto& settings = loaded.settings;
  auto& warnings = loaded.warnings;
  const auto& home = where.user_home;

  const auto requirements_path = where.system + "/requirements.toml";
  const auto text = read_text_file(requirements_path);
  if (!text) return text.error();
  if (*text) {
    auto read = read_requirements(**text, requirements_path, home);
    if (!read) return read.error();
    append(warnings, std::move(read->warnings));
    settings.required = std::move(read->required);
  }
  for (const auto& [folder, from] :
       {std::pair{where.system, layer::system}, std::pair{where.gatehouse_home, layer::user}}) {
    auto read = read_layer(folder + "/config.toml", from, home, warnings);
    if (!read) return read.error();
    put_on_top(settings, std::move(*read));
  }

  auto project = find_project(where, cwd);
  if (!project) return project.error();
  loaded.project = std::move(*project);
  const auto& root = loaded.project.root;
  append(warnings, loaded.project.warnings);
  settings.project_ceiling = settings.default_permissions.value;
  if (loaded.project.has_folder && loaded.project.trusted) {
    auto read = read_layer(loaded.project.folder + "/config.toml", layer::project, home, warnings);
    if (!read) return read.error();
    put_project(settings, std::move(*read), root, home, warnings);
  } else if (loaded.project.has_folder) {
    warnings.push_back(loaded.project.folder + " is left out: the project is not trusted (add \"" +
                       root + "\" to `trusted` in " + where.gatehouse_home + "/trust.toml)");
  }
  put_on_top(settings, command_line);
  apply_requirements(settings, std::move(settings.required), root, home, warnings);
  return loaded;
}

} // namespace gatehouse::config
