#include "policy/glob.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

bool is_ascii_letter(char32_t c) {
  return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
}

char32_t other_case(char32_t c) {
  return is_ascii_letter(c) ? c ^ 0x20 : c;
}

/// Characters beyond ASCII as their bytes; bytes that are no UTF-8 as themselves.
void append_bytes(std::string& out, char32_t c) {
  const auto byte = [&](char32_t value) { out.push_back(static_cast<char>(value)); };
  if (c >= 0x110000) return byte(c - 0x110000);
  if (c < 0x80) return byte(c);
  if (c < 0x800) return byte(0xC0 | (c >> 6)), byte(0x80 | (c & 0x3F));
  if (c >= 0x10000) byte(0xF0 | (c >> 18)), byte(0x80 | ((c >> 12) & 0x3F));
  if (c < 0x10000) byte(0xE0 | (c >> 12));
  byte(0x80 | ((c >> 6) & 0x3F)), byte(0x80 | (c & 0x3F));
}

/// As itself, whatever it means in an expression.
void append_one(std::string& out, char32_t c) {
  constexpr std::u32string_view special = U".[]{}()*+?^$|\\";
  if (special.find(c) != std::u32string_view::npos) out += '\\';
  append_bytes(out, c);
}

void append_literal(std::string& out, char32_t c) {
  if (!is_ascii_letter(c)) return append_one(out, c);
  out += '[';
  append_bytes(out, c);
  append_bytes(out, other_case(c));
  out += ']';
}

/// A character of several bytes, or a control character: what no ASCII text holds.
constexpr std::string_view beyond_ascii = "[^ -~][^ -~]?[^ -~]?[^ -~]?";

} // namespace

std::string path_glob::as_regex() const {
  const auto append_set = [](std::string& out, const token& t) {
    const auto matches = [&](char32_t c) {
      return std::any_of(t.ranges.begin(), t.ranges.end(),
                         [&](const auto& r) { return c >= r.first && c <= r.second; }) != t.negated;
    };
    out += '(';
    for (char32_t c = U' '; c <= U'~'; ++c)
      if (c != U'/' && (matches(c) || matches(other_case(c)))) {
        append_one(out, c);
        out += '|';
      }
    const bool beyond =
        t.negated || std::any_of(t.ranges.begin(), t.ranges.end(),
                                 [](const auto& r) { return r.second > U'~' || r.first < U' '; });
    if (beyond)
      out += beyond_ascii;
    else if (out.back() == '|')
      out.pop_back();
    out += ')';
  };

  std::string out = "^(";
  for (const auto& parts : alternatives_) {
    if (&parts != &alternatives_.front()) out += '|';
    for (const auto& part : parts) {
      if (part.any_depth) {
        out += "(/[^/]+)*";
        continue;
      }
      out += '/';
      if (std::all_of(part.tokens.begin(), part.tokens.end(),
                      [](const token& t) { return t.kind == token::kind_t::star; })) {
        out += "[^/]+";
        continue;
      }
      for (const auto& t : part.tokens) {
        switch (t.kind) {
        case token::kind_t::character: append_literal(out, t.character); break;
        case token::kind_t::any: out.append("([ -.0-~]|").append(beyond_ascii).append(")"); break;
        case token::kind_t::star: out += "[^/]*"; break;
        case token::kind_t::set: append_set(out, t); break;
        }
      }
    }
  }
  return out + ")(/[^/]*)*$";
}

} // namespace gatehouse::policy
