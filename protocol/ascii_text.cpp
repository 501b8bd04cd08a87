#include "protocol/ascii_text.hpp"

namespace gatehouse {

std::string to_lower_ascii(std::string_view text) {
  std::string lowered{text};
  for (char& c : lowered)
    c = to_lower_ascii(c);
  return lowered;
}

std::string_view trimmed(std::string_view text, std::string_view blank) noexcept {
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

} // namespace gatehouse
