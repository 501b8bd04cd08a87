#include "protocol/shell_quote.hpp"

#include <algorithm>

namespace gatehouse {
namespace {

bool is_bare(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view{"@%+=:,./-_"}.find(c) != std::string_view::npos;
}

bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7f;
}

std::string ansi_c_quote(std::string_view word) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "$'";
  for (char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_control(c)) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      if (c == '\\' || c == '\'') out += '\\';
      out += c;
    }
  }
  return out += '\'';
}

} // namespace

std::string shell_quote(std::string_view word) {
  if (std::ranges::any_of(word, is_control)) return ansi_c_quote(word);
  if (!word.empty() && std::ranges::all_of(word, is_bare)) return std::string{word};
  std::string out = "'";
  for (char c : word) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out += '\'';
}

std::string shell_join(std::span<const std::string> argv) {
  std::string out;
  for (const auto& word : argv) {
    if (!out.empty()) out += ' ';
    out += shell_quote(word);
  }
  return out;
}

} // namespace gatehouse
