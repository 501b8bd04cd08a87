#pragma once

#include <algorithm>
#include <string_view>

namespace gatehouse::policy::shell {

constexpr bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t';
}

/// Ends an unquoted word (the metacharacters of bash).
constexpr bool is_word_end(char c) noexcept {
  return is_blank(c) || c == '\n' || c == '|' || c == '&' || c == ';' || c == '(' || c == ')' ||
         c == '<' || c == '>';
}

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

constexpr bool is_name_start(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr bool is_name_part(char c) noexcept {
  return is_name_start(c) || is_digit(c);
}

constexpr bool is_name(std::string_view text) noexcept {
  return !text.empty() && is_name_start(text.front()) &&
         std::all_of(text.begin(), text.end(), is_name_part);
}

/// The name of `NAME=value` or `NAME+=value`; empty when `text` is no assignment.
constexpr std::string_view assigned_name(std::string_view text) noexcept {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return {};
  auto name = text.substr(0, equals);
  if (name.ends_with('+')) name.remove_suffix(1);
  return is_name(name) ? name : std::string_view{};
}

constexpr std::string_view base_name(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

} // namespace gatehouse::policy::shell
