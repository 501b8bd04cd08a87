#pragma once

#include "policy/domain_policy.hpp"
#include "policy/environment_policy.hpp"
#include "policy/rules/rule.hpp"
#include "protocol/approval_policy.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/sandbox_choice.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::config {

/// Where a setting comes from, lowest first (§43). A project may only tighten what stands below it;
/// requirements only tighten, after everything else.
enum class layer : std::uint8_t { built_in, system, user, project, command_line, requirements };
/// "built-in", "system", "user", "project", "command line", "requirements".
std::string_view to_string(layer l) noexcept;

struct origin {
  layer from = layer::built_in;
  std::string file; ///< empty: built in or given on the command line
  int line = 0;     ///< 1-based; 0: the file as a whole

  bool operator==(const origin&) const = default;
};
/// "user (/home/me/.gatehouse/config.toml:3)": for people.
std::string describe(const origin& where);

template <class T>
struct setting {
  T value{};
  origin from{};
};

/// Who answers where both could (§48).
enum class approvals_reviewer : std::uint8_t { user, auto_review };
/// "user", "auto_review".
std::string_view to_string(approvals_reviewer r) noexcept;

/// A model behind an OpenAI-compatible `/chat/completions` that reviews (§48a). One value: its
/// parts come from one layer.
struct review_endpoint {
  std::string url;
  std::string model;
  std::string key_env;  ///< the variable that holds the key; empty: none
  std::string key_file; ///< absolute path of the file that holds it; empty: none
  std::string ca_file;  ///< absolute path of certificates to trust; empty: the system's

  bool operator==(const review_endpoint&) const = default;
};

/// What `[permissions.<name>.network]` says beside `enabled`: the network is managed (§66).
struct network_definition {
  std::optional<bool> limited;       ///< `mode`
  std::optional<bool> local_binding; ///< `allow_local_binding`
  std::vector<policy::domain_rule> domains;
};

/// One `[permissions.<name>]` table as it is written; see resolve_profile().
struct profile_definition {
  std::string name;
  std::string description;
  std::string extends; ///< empty: nothing
  /// Further project roots, as written (absolute, `~/…` or relative to the project root).
  std::vector<std::pair<std::string, bool>> workspace_roots;
  std::vector<profile_entry> entries;
  std::optional<std::uint32_t> glob_scan_max_depth;
  std::optional<bool> network_enabled;
  std::optional<network_definition> network;
  origin from;
};

/// What one configuration file, or the command line, says. Unset: nothing.
struct settings_layer {
  std::optional<setting<approval_policy>> approval;
  std::optional<setting<std::string>> default_permissions;
  std::optional<setting<bool>> allow_login_shell;
  std::optional<setting<std::chrono::milliseconds>> default_timeout;
  std::optional<setting<policy::rule_sandbox>> default_rule_sandbox;
  std::optional<setting<bool>> additional_permissions;
  std::optional<setting<sandbox_backend>> backend;
  std::optional<setting<approvals_reviewer>> reviewer;
  std::optional<setting<std::vector<std::string>>> auto_review_command;
  std::optional<setting<review_endpoint>> auto_review_endpoint;
  std::optional<setting<std::chrono::milliseconds>> auto_review_timeout;
  std::optional<setting<bool>> strict_auto_review;
  std::vector<setting<std::string>> protected_names;
  std::optional<setting<policy::inherit_environment>> inherit_variables;
  std::optional<setting<std::vector<std::string>>> included_variables;
  std::vector<setting<std::string>> excluded_variables;
  std::vector<setting<std::string>> kept_variables;
  std::optional<setting<std::chrono::milliseconds>> terminal_hard_limit;
  std::optional<setting<std::chrono::milliseconds>> terminal_idle_limit;
  std::vector<profile_definition> profiles;
};

/// What `/etc/gatehouse/requirements.toml` demands. Empty lists: no limit.
struct requirements {
  std::string file; ///< empty: there are none
  std::vector<setting<approval_policy>> allowed_approval_policies;
  std::vector<setting<std::string>> allowed_profiles; ///< built-in names by their first spelling
  std::optional<setting<bool>> allow_login_shell;     ///< only false has an effect
  std::optional<setting<policy::rule_sandbox>> default_rule_sandbox; ///< only keep has an effect
  std::optional<setting<bool>> additional_permissions;               ///< only false has an effect
  std::optional<setting<sandbox_backend>> backend;                   ///< only none (the platform's)
  std::vector<setting<std::string>> protected_names;
  std::vector<setting<profile_entry>> denied_reads;
  std::vector<policy::prefix_rule> rules; ///< only prompt and forbidden
};

/// Every value in force, with where it came from.
struct effective_settings {
  setting<approval_policy> approval;
  setting<std::string> default_permissions{"workspace-write", {}};
  setting<bool> allow_login_shell{true, {}};
  setting<std::chrono::milliseconds> default_timeout{std::chrono::seconds{10}, {}};
  setting<policy::rule_sandbox> default_rule_sandbox{policy::rule_sandbox::bypass, {}};
  setting<bool> additional_permissions{true, {}};
  /// What sandboxed commands run in; none: what the platform has (§68).
  setting<sandbox_backend> backend{sandbox_backend::none, {}};
  setting<approvals_reviewer> reviewer{approvals_reviewer::user, {}};
  /// The program that is the automatic reviewer, an absolute path first; empty: there is none.
  setting<std::vector<std::string>> auto_review_command;
  /// The server that is the automatic reviewer; no url: there is none.
  setting<review_endpoint> auto_review_endpoint;
  setting<std::chrono::milliseconds> auto_review_timeout{std::chrono::seconds{90}, {}};
  setting<bool> strict_auto_review{false, {}};       ///< every call is reviewed (§49)
  std::vector<setting<std::string>> protected_names; ///< besides the built-in list
  /// Which variables commands inherit: see variable_rules().
  setting<policy::inherit_environment> inherit_variables{policy::inherit_environment::all, {}};
  setting<std::vector<std::string>> included_variables; ///< patterns; empty: all
  std::vector<setting<std::string>> excluded_variables; ///< patterns
  std::vector<setting<std::string>> kept_variables;     ///< names, although they hold a credential
  /// How long a terminal session may live, and how long it may neither say nor be told anything;
  /// zero: for ever.
  setting<std::chrono::milliseconds> terminal_hard_limit;
  setting<std::chrono::milliseconds> terminal_idle_limit;
  std::map<std::string, profile_definition, std::less<>> profiles;
  /// The default profile below the project layer: a project's own profiles must stay within it.
  std::string project_ceiling = "workspace-write";
  requirements required;
};

/// What commands get of the environment (§3, BR-202).
policy::environment_policy variable_rules(const effective_settings& settings);

} // namespace gatehouse::config
