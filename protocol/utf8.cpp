#include "protocol/utf8.hpp"

#include <algorithm>
#include <utility>

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

std::string abridged(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string{text};
  const auto starts = [&](std::size_t at) {
    return at >= text.size() || (static_cast<unsigned char>(text[at]) & 0xC0u) != 0x80;
  };
  // What stands at the end of a message is what to do next.
  std::size_t head = most - most / 3;
  std::size_t tail = text.size() - most / 3;
  while (head > 0 && !starts(head))
    --head;
  while (!starts(tail))
    ++tail;
  return std::string{text.substr(0, head)} + "\xE2\x80\xA6" + std::string{text.substr(tail)};
}

std::size_t incomplete_utf8_suffix(std::string_view text) noexcept {
  const auto is_continuation = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) == 0x80;
  };
  constexpr std::size_t longest = 3;
  for (std::size_t length = 1; length <= std::min(longest, text.size()); ++length) {
    const auto suffix = text.substr(text.size() - length);
    if (is_continuation(suffix.front())) continue;
    // It could be completed if some continuation of it is well-formed: these two reach every range
    // that a second byte may be limited to, and are no limit to later ones.
    for (const char* rest : {"\x80\x80\x80", "\xBF\xBF\xBF"})
      for (std::size_t more = 1; length + more <= 4; ++more)
        if (!find_invalid_utf8(std::string{suffix}.append(rest, more))) return length;
    return 0;
  }
  return 0;
}

std::string utf8_decoder::decode(std::string_view chunk) {
  std::string text = std::exchange(begun_, {});
  text += chunk;
  const auto whole = text.size() - incomplete_utf8_suffix(text);
  begun_ = text.substr(whole);
  text.resize(whole);
  return find_invalid_utf8(text) ? to_valid_utf8(text) : text;
}

std::string utf8_decoder::finish() {
  return to_valid_utf8(std::exchange(begun_, {}));
}

} // namespace gatehouse
