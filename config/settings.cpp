#include "config/settings.hpp"

namespace gatehouse::config {

std::string_view to_string(layer l) noexcept {
  switch (l) {
  case layer::built_in: return "built-in";
  case layer::system: return "system";
  case layer::user: return "user";
  case layer::project: return "project";
  case layer::command_line: return "command line";
  case layer::requirements: return "requirements";
  }
  return "built-in";
}

std::string describe(const origin& where) {
  std::string text{to_string(where.from)};
  if (where.file.empty()) return text;
  text += " (" + where.file;
  if (where.line > 0) text += ":" + std::to_string(where.line);
  return text + ")";
}

std::string_view to_string(approvals_reviewer r) noexcept {
  return r == approvals_reviewer::auto_review ? "auto_review" : "user";
}

policy::environment_policy variable_rules(const effective_settings& settings) {
  policy::environment_policy rules;
  rules.inherit = settings.inherit_variables.value;
  rules.include_only = settings.included_variables.value;
  for (const auto& pattern : settings.excluded_variables)
    rules.exclude.push_back(pattern.value);
  for (const auto& name : settings.kept_variables)
    rules.keep.push_back(name.value);
  return rules;
}

} // namespace gatehouse::config
