#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::policy {

enum class inherit_environment : std::uint8_t {
  all,
  core, ///< HOME, PATH, SHELL, USER, the temporary folder, the language
  none,
};
/// "all", "core", "none".
std::string_view to_string(inherit_environment what) noexcept;

/// Which variables a child gets. Patterns are of names, `*` and `?`, upper and lower case alike.
struct environment_policy {
  inherit_environment inherit = inherit_environment::all;
  /// True: what holds a secret (holds_secret) is inherited too.
  bool ignore_default_excludes = false;
  std::vector<std::string> keep; ///< names that are inherited although they hold a secret
  std::vector<std::string> exclude;
  std::map<std::string, std::string> set; ///< after the exclusions
  std::vector<std::string> include_only;  ///< not empty: nothing else stays, of `set` neither
};

using environment = std::map<std::string, std::string>;

/// "K=V" as a table; what is not of this form is dropped.
environment read_environment(const std::vector<std::string>& entries);
std::vector<std::string> to_entries(const environment& variables); ///< by name

environment select_environment(const environment_policy& rules, const environment& own);

/// What every command of an agent is told (no pager, no colour, no prompt), whatever it inherits:
/// nobody sits at it, with a terminal or without (BR-135, BR-168).
void add_session_variables(environment& variables);

} // namespace gatehouse::policy
