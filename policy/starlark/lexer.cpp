#include "policy/starlark/lexer.hpp"

#include <algorithm>
#include <array>

namespace gatehouse::policy::starlark {
namespace {

constexpr std::size_t longest_number = 1300;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_part(char c) {
  return is_name_start(c) || is_digit(c);
}

constexpr std::array<std::string_view, 15> keywords{"and",  "break", "continue", "def",  "elif",
                                                    "else", "for",   "if",       "in",   "lambda",
                                                    "load", "not",   "or",       "pass", "return"};
constexpr std::array<std::string_view, 18> reserved{
    "as",     "assert", "async", "await",    "class", "del", "except", "finally", "from",
    "global", "import", "is",    "nonlocal", "raise", "try", "while",  "with",    "yield"};

/// Longest first, so that a prefix never wins.
constexpr std::array<std::string_view, 43> symbols{
    "...", "//=", "<<=", ">>=", "**", "->", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=",
    "&=",  "|=",  "^=",  "<<",  ">>", "//", "(",  ")",  "[",  "]",  "{",  "}",  ",",  ":",  ";",
    ".",   "=",   "<",   ">",   "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^",  "~"};

std::string shown(std::string_view text) {
  return "`" + std::string{text} + "`";
}

} // namespace

bool is_name_start(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

lexer::lexer(std::string_view text, position where, context in)
    : text_{text}, counted_{where}, brackets_{in == context::bracket ? 1 : 0}, line_start_{
                                                                                   in ==
                                                                                   context::file} {}

position lexer::here() {
  for (; counted_at_ < at_; ++counted_at_) {
    const auto byte = static_cast<unsigned char>(text_[counted_at_]);
    if (byte == '\n') {
      ++counted_.line;
      counted_.column = 1;
    } else if ((byte & 0xC0) != 0x80) {
      ++counted_.column;
    }
  }
  return counted_;
}

token lexer::made(token_kind kind, std::size_t begin, position where) const {
  token t;
  t.kind = kind;
  t.where = where;
  t.text = text_.substr(begin, at_ - begin);
  return t;
}

void lexer::take_line_end() {
  if (peek() == '\r' && peek(1) == '\n') ++at_;
  ++at_;
}

void lexer::refuse_character() {
  const auto where = here();
  const auto byte = static_cast<unsigned char>(peek());
  if (text_.substr(at_).starts_with("\xEF\xBB\xBF"))
    raise("a byte order mark is not allowed; save the file as plain UTF-8", where);
  if (byte == '\r') raise("a carriage return must be followed by a newline", where);
  if (byte == '\t') raise("indentation must use spaces, not tabs", where);
  if (byte >= 0x80) raise("only strings and comments may hold characters beyond ASCII", where);
  if (byte < 0x20 || byte == 0x7F)
    raise("control character " + std::to_string(byte) + " is not allowed", where);
  raise("unexpected character " + shown({text_.data() + at_, 1}), where);
}

/// Skips blanks, comments and continued lines; true when it stopped at a line's end.
bool lexer::skip_blank_in_line() {
  for (;;) {
    const char c = peek();
    if (ended()) return false;
    if (c == ' ' || c == '\t') {
      ++at_;
    } else if (c == '#') {
      while (!ended() && peek() != '\n' && !(peek() == '\r' && peek(1) == '\n')) {
        if (peek() == '\r') refuse_character();
        ++at_;
      }
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      ++at_;
      take_line_end();
    } else if (c == '\n' || (c == '\r' && peek(1) == '\n')) {
      if (brackets_ == 0) return true;
      take_line_end();
    } else {
      return false;
    }
  }
}

/// At the start of a line: skips blank lines and compares the indentation.
token lexer::read_indentation() {
  for (;;) {
    const auto begin = at_;
    while (peek() == ' ')
      ++at_;
    const auto width = static_cast<int>(at_ - begin);
    const auto after_spaces = at_;
    if (skip_blank_in_line()) {
      take_line_end();
      continue;
    }
    line_start_ = false;
    if (ended()) return {};
    if (text_.substr(after_spaces, at_ - after_spaces).find('\t') != std::string_view::npos) {
      at_ = after_spaces;
      refuse_character();
    }
    if (width > indents_.back()) {
      indents_.push_back(width);
      return made(token_kind::indent, at_, here());
    }
    while (width < indents_.back()) {
      indents_.pop_back();
      ++pending_dedents_;
    }
    if (width != indents_.back())
      raise("this line's indentation fits none of the lines above", here());
    return {};
  }
}

token lexer::next() {
  if (line_start_) {
    const auto t = read_indentation();
    if (t.kind == token_kind::indent) return t;
  }
  if (pending_dedents_ > 0) {
    --pending_dedents_;
    return made(token_kind::dedent, at_, here());
  }
  const auto begin = at_;
  if (skip_blank_in_line()) {
    const auto where = here();
    const auto newline_at = at_;
    take_line_end();
    line_start_ = true;
    ends_with_newline_ = true;
    return made(token_kind::newline, newline_at, where);
  }
  if (ended()) {
    if (!ends_with_newline_ && brackets_ == 0) {
      ends_with_newline_ = true;
      return made(token_kind::newline, begin, here());
    }
    if (indents_.size() > 1) {
      indents_.pop_back();
      return made(token_kind::dedent, at_, here());
    }
    return made(token_kind::end, at_, here());
  }
  ends_with_newline_ = false;
  return read_token();
}

token lexer::read_token() {
  const char c = peek();
  if (is_name_start(c)) {
    std::size_t prefix = 0;
    while (prefix < 2 && (peek(prefix) == 'r' || peek(prefix) == 'b' || peek(prefix) == 'f'))
      ++prefix;
    if (peek(prefix) == '"' || peek(prefix) == '\'') return read_string(prefix);
    return read_word();
  }
  if (c == '"' || c == '\'') return read_string(0);
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number();
  return read_symbol();
}

token lexer::read_word() {
  const auto where = here();
  const auto begin = at_;
  while (is_name_part(peek()))
    ++at_;
  auto t = made(token_kind::name, begin, where);
  if (std::ranges::find(keywords, t.text) != keywords.end()) t.kind = token_kind::keyword;
  if (std::ranges::find(reserved, t.text) != reserved.end())
    raise(shown(t.text) + " is a reserved word that rule files do not have", where);
  return t;
}

token lexer::read_symbol() {
  const auto where = here();
  const auto rest = text_.substr(at_);
  const auto it = std::ranges::find_if(symbols, [&](auto s) { return rest.starts_with(s); });
  if (it == symbols.end()) refuse_character();
  const auto begin = at_;
  at_ += it->size();
  if (it->find_first_of("([{") != std::string_view::npos) ++brackets_;
  if (it->find_first_of(")]}") != std::string_view::npos && brackets_ > 0) --brackets_;
  return made(token_kind::symbol, begin, where);
}

token lexer::read_number() {
  const auto where = here();
  const auto begin = at_;
  const auto digits = [&](auto is_one) {
    const auto first = at_;
    while (is_one(peek()))
      ++at_;
    return at_ - first;
  };
  const auto is_hex = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  };
  auto kind = token_kind::integer;
  const char base = static_cast<char>(peek(1) | 0x20);
  if (peek() == '0' && (base == 'x' || base == 'o' || base == 'b')) {
    at_ += 2;
    const auto count = base == 'x'   ? digits(is_hex)
                       : base == 'o' ? digits([](char c) { return c >= '0' && c <= '7'; })
                                     : digits([](char c) { return c == '0' || c == '1'; });
    if (count == 0) raise("a number ends after its base", where);
  } else {
    digits(is_digit);
    if (peek() == '.') {
      kind = token_kind::real;
      ++at_;
      digits(is_digit);
    }
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (is_digit(peek(1 + sign))) {
        kind = token_kind::real;
        at_ += 1 + sign;
        digits(is_digit);
      }
    }
    if (kind == token_kind::integer && at_ - begin > 1 && text_[begin] == '0')
      raise("a decimal number may not begin with 0", where);
  }
  if (is_name_part(peek())) raise("a number runs into a name", where);
  if (at_ - begin > longest_number) raise("a number has more than 1300 digits", where);
  return made(kind, begin, where);
}

token lexer::read_string(std::size_t prefix) {
  token t;
  t.kind = token_kind::string;
  t.where = here();
  for (std::size_t i = 0; i < prefix; ++i) {
    bool& flag = peek(i) == 'r' ? t.raw : peek(i) == 'b' ? t.bytes : t.formatted;
    if (flag) raise("a string has the same prefix twice", t.where);
    flag = true;
  }
  if (t.bytes && t.formatted) raise("a string cannot be both bytes and formatted", t.where);
  at_ += prefix;
  const char quote = peek();
  const bool triple = peek(1) == quote && peek(2) == quote;
  at_ += triple ? 3 : 1;
  t.text_where = here();
  const auto begin = at_;
  for (;; ++at_) {
    if (ended()) raise("a string is not closed before the end of the file", t.where);
    const char c = peek();
    if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) break;
    if (c == '\r' && peek(1) != '\n') refuse_character();
    if (c == '\n' && !triple) raise("a string is not closed at the end of its line", t.where);
    if (c == '\\' && at_ + 1 < text_.size()) {
      ++at_;
      if (peek() == '\r' && peek(1) == '\n') ++at_;
    }
  }
  t.text = text_.substr(begin, at_ - begin);
  at_ += triple ? 3 : 1;
  return t;
}

} // namespace gatehouse::policy::starlark
