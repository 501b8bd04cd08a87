#include "protocol/utf8.hpp"

namespace gatehouse {

std::optional<std::size_t> find_invalid_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned lead = byte(i);
    if (lead < 0x80) {
      ++i;
    } else if (lead >= 0xC2 && lead <= 0xDF) {
      if (!continues(i + 1)) return i;
      i += 2;
    } else if ((lead & 0xF0u) == 0xE0u) {
      const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
      const unsigned high = lead == 0xED ? 0x9F : 0xBF; // no surrogates
      if (byte(i + 1) < low || byte(i + 1) > high || !continues(i + 2)) return i;
      i += 3;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
      const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
      if (byte(i + 1) < low || byte(i + 1) > high || !continues(i + 2) || !continues(i + 3))
        return i;
      i += 4;
    } else {
      return i;
    }
  }
  return std::nullopt;
}

std::string to_valid_utf8(std::string_view text) {
  std::string valid;
  while (const auto bad = find_invalid_utf8(text)) {
    valid += text.substr(0, *bad);
    valid += "\xEF\xBF\xBD";
    text.remove_prefix(*bad + 1);
  }
  return valid += text;
}

} // namespace gatehouse
