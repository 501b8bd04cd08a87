#pragma once

#include "policy/starlark/arguments.hpp"

#include <string_view>

#include <unistr.h>

/// What the methods of strings share.
namespace gatehouse::policy::starlark {

inline std::string_view self(const call_arguments& a) {
  return a.receiver.str();
}

/// A new string; costs steps by its size.
inline value made(evaluator& on, std::string_view text) {
  on.spend(text.size() / 16);
  return make_string(on.heap(), text);
}

/// The code point of one character.
inline ucs4_t decoded(std::string_view character) {
  ucs4_t c = 0;
  u8_mbtouc(&c, reinterpret_cast<const std::uint8_t*>(character.data()), character.size());
  return c;
}

template <class Visit>
void each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const auto width = character_offset(text, 1);
    visit(text.substr(0, width));
    text.remove_prefix(width);
  }
}

} // namespace gatehouse::policy::starlark
