#include "policy/starlark/integers.hpp"
#include "policy/starlark/parser.hpp"
#include "policy/starlark/string_literal.hpp"

#include <charconv>
#include <cmath>

namespace gatehouse::policy::starlark {

expression* parser::parse_number() {
  auto* made = node<literal_expression>(expression_kind::literal, token_.where);
  const auto text = token_.text;
  if (token_.kind == token_kind::real) {
    double d = 0;
    std::from_chars(text.data(), text.data() + text.size(), d);
    if (!std::isfinite(d)) raise("this number is out of range", token_.where);
    made->constant = of(d);
  } else {
    const char mark = text.size() > 1 ? static_cast<char>(text[1] | 0x20) : '\0';
    const int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    made->constant = parse_integer(heap_, base == 10 ? text : text.substr(2), base);
  }
  advance();
  return made;
}

expression* parser::parse_string() {
  const auto literal = token_;
  advance();
  if (literal.formatted) return parse_formatted(literal);
  auto* made = node<literal_expression>(expression_kind::literal, literal.where);
  const auto text = decode_literal(literal.text, literal.raw, literal.bytes, literal.where);
  made->constant = literal.bytes ? make_bytes(heap_, text) : make_string(heap_, text);
  return made;
}

namespace {

/// Walks the text between the quotes of an f-string and keeps the position of every character.
struct format_cursor {
  std::string_view text;
  position where;
  std::size_t at = 0;

  [[nodiscard]] bool ended() const { return at >= text.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }
  void step() {
    const auto byte = static_cast<unsigned char>(text[at++]);
    if (byte == '\n') {
      ++where.line;
      where.column = 1;
    } else if ((byte & 0xC0) != 0x80) {
      ++where.column;
    }
  }
};

/// Moves behind an expression: to its closing `}` or a conversion `!r`.
void skip_expression(format_cursor& cursor) {
  int depth = 0;
  char quote = '\0';
  for (; !cursor.ended(); cursor.step()) {
    const char c = cursor.peek();
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (depth > 0) {
      if (c == ')' || c == ']' || c == '}') --depth;
    } else if (c == '}' || (c == '!' && cursor.peek(1) != '=')) {
      return;
    }
  }
}

} // namespace

expression* parser::parse_formatted(const token& literal) {
  auto* made = node<formatted_expression>(expression_kind::formatted, literal.where);
  std::vector<format_piece> pieces;
  format_cursor cursor{literal.text, literal.text_where};
  std::string text;
  const auto flush = [&] {
    const auto decoded = decode_literal(text, literal.raw, false, literal.where);
    if (!decoded.empty()) pieces.push_back({heap_.copy(decoded), nullptr, false});
    text.clear();
  };
  while (!cursor.ended()) {
    const char c = cursor.peek();
    if (c == '\\' && !literal.raw && cursor.at + 1 < cursor.text.size()) {
      text += c;
      cursor.step();
    } else if ((c == '{' || c == '}') && cursor.peek(1) == c) {
      cursor.step();
    } else if (c == '}') {
      raise("a single `}` in a formatted string; write `}}`", cursor.where);
    } else if (c == '{') {
      flush();
      cursor.step();
      const auto begin = cursor.at;
      const auto where = cursor.where;
      skip_expression(cursor);
      const nesting guard{*this};
      parser inner{cursor.text.substr(begin, cursor.at - begin), where, lexer::context::bracket,
                   heap_, spent_};
      inner.depth_ = depth_;
      auto* item = inner.parse_lone_expression();
      bool as_repr = false;
      if (cursor.peek() == '!') {
        as_repr = cursor.peek(1) == 'r';
        if ((!as_repr && cursor.peek(1) != 's') || cursor.peek(2) != '}')
          raise("only `!r` and `!s` may follow an expression in a formatted string", cursor.where);
        cursor.step();
        cursor.step();
      }
      if (cursor.ended()) raise("a `{` in a formatted string is not closed", where);
      cursor.step();
      pieces.push_back({{}, item, as_repr});
      continue;
    }
    text += cursor.peek();
    cursor.step();
  }
  flush();
  made->pieces = kept(pieces);
  return made;
}

} // namespace gatehouse::policy::starlark
