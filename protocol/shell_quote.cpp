#include "protocol/shell_quote.hpp"

#include "protocol/visible_text.hpp"

#include <algorithm>

namespace gatehouse {
namespace {

bool is_bare(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view{"@%+=:,./-_"}.find(c) != std::string_view::npos;
}

} // namespace

std::string shell_quote(std::string_view word) {
  if (!shows_as_it_is(word)) return "$'" + visible_text(word, "\\'") + '\'';
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
