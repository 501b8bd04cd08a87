#pragma once

#include <string>
#include <string_view>

/// Letters and blanks of ASCII, whatever the locale says; every other byte stays as it is.
namespace gatehouse {

constexpr char to_lower_ascii(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string to_lower_ascii(std::string_view text);

/// Without the characters of `blank` at both ends.
std::string_view trimmed(std::string_view text, std::string_view blank = " \t\r\n") noexcept;

} // namespace gatehouse
