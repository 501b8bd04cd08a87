#include "policy/environment_policy.hpp"

#include "policy/secret_variables.hpp"

#include <algorithm>
#include <array>

namespace gatehouse::policy {
namespace {

constexpr std::array<std::string_view, 12> core_names = {"HOME",     "LANG",   "LC_ALL", "LC_CTYPE",
                                                         "LOGNAME",  "PATH",   "SHELL",  "USER",
                                                         "USERNAME", "TMPDIR", "TEMP",   "TMP"};

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

/// `*` and `?`, in time of the product of the lengths at most.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, mark = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || upper(pattern[p]) == upper(name[n]))) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

template <class Patterns>
bool matches_any(const Patterns& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const auto& pattern) { return matches(pattern, name); });
}

} // namespace

std::string_view to_string(inherit_environment what) noexcept {
  switch (what) {
  case inherit_environment::all: return "all";
  case inherit_environment::core: return "core";
  case inherit_environment::none: return "none";
  }
  return "none";
}

environment read_environment(const std::vector<std::string>& entries) {
  environment table;
  for (const auto& entry : entries)
    if (const auto equals = entry.find('='); equals != std::string::npos && equals > 0)
      table[entry.substr(0, equals)] = entry.substr(equals + 1);
  return table;
}

std::vector<std::string> to_entries(const environment& variables) {
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables)
    entries.push_back(name + "=" + value);
  return entries;
}

environment select_environment(const environment_policy& rules, const environment& own) {
  environment out;
  for (const auto& [name, value] : own) {
    if (rules.inherit == inherit_environment::none) break;
    if (rules.inherit == inherit_environment::core && !matches_any(core_names, name)) continue;
    if (!rules.ignore_default_excludes && std::ranges::find(rules.keep, name) == rules.keep.end() &&
        holds_secret(name + "=" + value))
      continue;
    if (!matches_any(rules.exclude, name)) out[name] = value;
  }
  for (const auto& [name, value] : rules.set)
    out[name] = value;
  if (!rules.include_only.empty())
    std::erase_if(out,
                  [&](const auto& entry) { return !matches_any(rules.include_only, entry.first); });
  return out;
}

void add_session_variables(environment& variables) {
  constexpr std::pair<std::string_view, std::string_view> forced[] = {{"NO_COLOR", "1"},
                                                                      {"LANG", "C.UTF-8"},
                                                                      {"LC_CTYPE", "C.UTF-8"},
                                                                      {"LC_ALL", "C.UTF-8"},
                                                                      {"COLORTERM", ""},
                                                                      {"PAGER", "cat"},
                                                                      {"GIT_PAGER", "cat"},
                                                                      {"GH_PAGER", "cat"},
                                                                      {"MANPAGER", "cat"},
                                                                      {"SYSTEMD_PAGER", ""},
                                                                      {"GIT_TERMINAL_PROMPT", "0"},
                                                                      {"TERM", "dumb"}};
  for (const auto& [name, value] : forced)
    variables.insert_or_assign(std::string{name}, std::string{value});
  variables.erase("SSH_ASKPASS");
  variables.erase("GIT_ASKPASS");
}

} // namespace gatehouse::policy
