#include "protocol/visible_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace gatehouse {
namespace {

struct character {
  char32_t code = 0;
  std::size_t size = 1;
  bool valid = false;
};

/// The character at the front of `text`. @pre not empty
character next_character(std::string_view text) noexcept {
  const auto byte = [&text](std::size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(text[i]));
  };
  const unsigned first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return {first, 1, false};
  char32_t code = first & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return {first, 1, false};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    return {first, 1, false};
  return {code, size, true};
}

/// Shown as nothing, as blank, or changing how others are shown.
bool is_deceptive(char32_t c) noexcept {
  struct range {
    char32_t first, last;
  };
  constexpr range hidden[] = {
      {0x0, 0x8},       {0xb, 0x1f},        {0x7f, 0xa0},       {0xad, 0xad},
      {0x34f, 0x34f},   {0x61c, 0x61c},     {0x115f, 0x1160},   {0x1680, 0x1680},
      {0x17b4, 0x17b5}, {0x180b, 0x180f},   {0x2000, 0x200f},   {0x2028, 0x202f},
      {0x205f, 0x206f}, {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},
      {0xe000, 0xf8ff}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
      {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff}};
  return std::any_of(std::begin(hidden), std::end(hidden),
                     [c](const range& r) { return c >= r.first && c <= r.last; });
}

std::string escape_character(const character& c) {
  char text[16];
  const auto value = static_cast<unsigned>(c.code);
  if (!c.valid || c.code < 0x80)
    std::snprintf(text, sizeof text, "\\x%02x", value);
  else if (c.code < 0x10000)
    std::snprintf(text, sizeof text, "\\u%04x", value);
  else
    std::snprintf(text, sizeof text, "\\U%08x", value);
  return text;
}

} // namespace

bool shows_as_it_is(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto c = next_character(text);
    if (!c.valid || is_deceptive(c.code)) return false;
    text.remove_prefix(c.size);
  }
  return true;
}

std::string visible_text(std::string_view text, std::string_view also) {
  std::string out;
  while (!text.empty()) {
    const auto c = next_character(text);
    if (!c.valid || is_deceptive(c.code)) {
      out += escape_character(c);
    } else {
      if (c.size == 1 && also.find(text[0]) != std::string_view::npos) out += '\\';
      out += text.substr(0, c.size);
    }
    text.remove_prefix(c.size);
  }
  return out;
}

std::string visible_words(std::string_view text) {
  auto visible = visible_text(text);
  std::ranges::replace(visible, '\n', ' ');
  return visible;
}

std::string visible_lines(std::string_view text, std::string_view indent) {
  std::string out;
  for (const char c : visible_text(text)) {
    out += c;
    if (c == '\n') out += indent;
  }
  return out;
}

std::string visible_error(const error& why) {
  return to_string(
      error{why.code, visible_lines(why.message, "    "), visible_lines(why.remedy, "    ")});
}

std::string visible_line(std::string_view text, std::size_t most) {
  constexpr std::string_view more = "\xE2\x80\xA6";
  std::string out;
  std::size_t whole = 0; // what of `out` leaves room for `more`
  while (!text.empty()) {
    const auto c = next_character(text);
    if (!c.valid || is_deceptive(c.code) || c.code == '\t' || c.code == '\n')
      out += escape_character(c);
    else
      out.append(text[0] == '\\' ? "\\" : "").append(text.substr(0, c.size));
    if (out.size() > most) return out.substr(0, whole).append(more);
    if (out.size() + more.size() <= most) whole = out.size();
    text.remove_prefix(c.size);
  }
  return out;
}

} // namespace gatehouse
