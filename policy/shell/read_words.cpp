#include "policy/shell/characters.hpp"
#include "policy/shell/script_reader.hpp"

#include <charconv>
#include <cstdint>
#include <utility>

namespace gatehouse::policy::shell {
namespace {

/// The word so far when it is one unquoted literal.
std::string_view only_bare(const raw_word& raw) {
  if (raw.pieces.size() != 1 || raw.pieces.front().type != word_piece::kind::bare) return {};
  return raw.pieces.front().text;
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | ((code >> 18) & 0x07));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

} // namespace

void raw_word::add(word_piece::kind type, std::string_view text) {
  if (pieces.empty() || pieces.back().type != type || pieces.size() == value_begin)
    pieces.push_back({type, {}, false, {}});
  pieces.back().text += text;
}

bool script_reader::at_word() const noexcept {
  return !done() && (!is_word_end(peek()) || looking_at("<(") || looking_at(">("));
}

raw_word script_reader::read_word(bool assignable) {
  raw_word raw;
  while (!done()) {
    const char c = peek();
    if (is_word_end(c)) {
      if ((c == '<' || c == '>') && peek(1) == '(') {
        process_substitution(raw);
        continue;
      }
      if (c != '(') break;
      if (!raw.assigned.empty() && raw.pieces.size() == raw.value_begin) {
        array_value(raw);
        continue;
      }
      const bool pattern =
          !raw.pieces.empty() && raw.pieces.back().type == word_piece::kind::bare &&
          std::string_view("?*+@!").find(raw.pieces.back().text.back()) != std::string_view::npos;
      if (!pattern) break;
      // An error for most shells, with extglob a pattern of bash; zsh can run code in it.
      unreadable("`" + shortened(text_.substr(at_ - 1, 20)) + "` means different things to shells");
      parenthesised_pattern(raw);
      continue;
    }
    if (assignable && raw.assigned.empty() && (c == '[' || c == '=')) {
      auto name = std::string(only_bare(raw));
      assignable = false; // from here on this is an ordinary word
      if (c == '[' && is_name(name) && !is_posix()) {
        const auto begin = at_;
        subscript(raw);
        if (text_.substr(begin, at_ - begin).find_first_of(" \t\n;|&") != std::string_view::npos)
          unreadable("a subscript with blanks means different things to shells");
        if (peek() == '=' || looking_at("+=")) {
          at_ += peek() == '+' ? 2 : 1;
          raw.add_bare("=");
          raw.assigned = name;
          raw.value_begin = raw.pieces.size();
        }
        continue;
      }
      if (c == '=' && !name.empty()) {
        if (name.back() == '+') name.pop_back();
        if (is_name(name)) {
          ++at_;
          raw.add_bare("=");
          raw.assigned = name;
          raw.value_begin = raw.pieces.size();
          continue;
        }
      }
    }
    element(raw, false);
  }
  return raw;
}

void script_reader::element(raw_word& into, bool quotes_are_plain) {
  const char c = peek();
  switch (c) {
  case '\\':
    if (peek(1) == '\n') {
      continuation(into, false);
    } else if (at_ + 1 >= text_.size()) {
      into.add_quoted("\\");
      ++at_;
    } else {
      into.add_quoted(text_.substr(at_ + 1, 1));
      at_ += 2;
    }
    return;
  case '\'': {
    if (quotes_are_plain) break;
    const auto end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return fail("a single quote is not closed");
    into.add_quoted(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return;
  }
  case '"': return double_quoted(into);
  case '$': return dollar(into, quotes_are_plain);
  case '`': return backticks(into, quotes_are_plain);
  case '<':
  case '>':
    if (!quotes_are_plain && peek(1) == '(') return process_substitution(into);
    break;
  default: break;
  }
  into.add_bare(text_.substr(at_, 1));
  ++at_;
}

/// Skips backslash and newline. The shell joins the lines before it reads words and expansions; we
/// do so afterwards, which is the same only where no expansion is cut in two.
void script_reader::continuation(const raw_word& word_so_far, bool in_quotes) {
  const auto is_free = [&](std::size_t at) {
    return at >= text_.size() || is_blank(text_[at]) || text_[at] == '\n';
  };
  const bool after_expansion =
      !word_so_far.pieces.empty() && word_so_far.pieces.back().type == word_piece::kind::unknown;
  const bool cuts = in_quotes ? after_expansion || (at_ > 0 && text_[at_ - 1] == '$')
                              : at_ > 0 && !is_free(at_ - 1) && !is_free(at_ + 2);
  if (cuts) unreadable("a line continuation stands inside a word");
  at_ += 2;
}

void script_reader::double_quoted(raw_word& into) {
  const auto begin = at_++;
  into.add_quoted({});
  while (!done()) {
    const char c = peek();
    if (c == '"') {
      ++at_;
      return;
    }
    if (c == '\\') {
      const char next = peek(1);
      if (next == '\n') {
        continuation(into, true);
      } else if (next == '$' || next == '`' || next == '"' || next == '\\') {
        into.add_quoted(text_.substr(at_ + 1, 1));
        at_ += 2;
      } else {
        into.add_quoted("\\");
        ++at_;
      }
    } else if (c == '$') {
      dollar(into, true);
    } else if (c == '`') {
      backticks(into, true);
    } else {
      into.add_quoted(text_.substr(at_, 1));
      ++at_;
    }
  }
  at_ = begin;
  fail("a double quote is not closed");
}

void script_reader::ansi_quoted(raw_word& into) {
  const auto begin = at_;
  at_ += 2;
  std::string text;
  bool cut = false; // `\0` ends the string for bash, the rest up to the quote is dropped
  while (!done() && peek() != '\'') {
    std::string piece;
    char c = text_[at_++];
    if (c != '\\' || done()) {
      piece = c;
    } else {
      c = text_[at_++];
      const auto number = [&](int base, std::size_t digits) -> std::optional<std::uint32_t> {
        std::uint32_t value = 0;
        const auto* first = text_.data() + at_;
        const auto* last = first + std::min(digits, text_.size() - at_);
        const auto parsed = std::from_chars(first, last, value, base);
        if (parsed.ptr == first) return std::nullopt;
        at_ += static_cast<std::size_t>(parsed.ptr - first);
        return value;
      };
      switch (c) {
      case 'a': piece = '\a'; break;
      case 'b': piece = '\b'; break;
      case 'e':
      case 'E': piece = '\x1b'; break;
      case 'f': piece = '\f'; break;
      case 'n': piece = '\n'; break;
      case 'r': piece = '\r'; break;
      case 't': piece = '\t'; break;
      case 'v': piece = '\v'; break;
      case '\\':
      case '\'':
      case '"':
      case '?': piece = c; break;
      case 'c':
        if (!done()) piece = static_cast<char>(text_[at_++] & 0x1f);
        break;
      case 'x':
        if (peek() == '{') unreadable("`$'\\x{…}'` differs between versions of bash");
        if (const auto value = number(16, 2))
          piece = static_cast<char>(*value);
        else
          piece = "\\x";
        break;
      case 'u':
      case 'U':
        if (const auto value = number(16, c == 'u' ? 4 : 8))
          append_utf8(piece, *value);
        else
          piece = std::string("\\") + c;
        break;
      default:
        if (c >= '0' && c <= '7') {
          --at_;
          piece = static_cast<char>(*number(8, 3));
        } else {
          piece = std::string("\\") + c;
        }
      }
    }
    cut = cut || piece == std::string_view("\0", 1);
    if (!cut) text += piece;
  }
  if (done()) {
    at_ = begin;
    return fail("`$'` is not closed");
  }
  ++at_;
  into.add_quoted(text);
}

void script_reader::subscript(raw_word& into) {
  into.add_bare("[");
  ++at_;
  for (int open = 1; !done();) {
    const char c = peek();
    if (c == '[') ++open;
    if (c == ']' && --open == 0) {
      into.add_bare("]");
      ++at_;
      return;
    }
    element(into, false);
  }
  fail("`[` of a subscript is not closed");
}

void script_reader::array_value(raw_word& into) {
  ++at_;
  std::string joined;
  bool known = true;
  while (true) {
    skip_newlines();
    if (done()) return fail("`(` of an array is not closed");
    if (peek() == ')') break;
    const auto before = at_;
    const auto element_word = read_word(true);
    if (at_ == before) return fail("an array holds an operator");
    const auto text = join_pieces(element_word.pieces);
    known = known && text.known;
    joined += (joined.empty() ? "" : " ") + text.text;
  }
  ++at_;
  unknown(into, true, known ? std::vector<std::string>{joined} : std::vector<std::string>{});
}

void script_reader::parenthesised_pattern(raw_word& into) {
  for (int open = 0; !done();) {
    const char c = peek();
    open += c == '(' ? 1 : c == ')' ? -1 : 0;
    element(into, false);
    if (open == 0) return;
  }
  fail("`(` of a pattern is not closed");
}

raw_word script_reader::read_document() {
  raw_word raw;
  while (!done()) {
    const char c = peek();
    if (c == '\\') {
      const char next = peek(1);
      if (next == '\n') {
        continuation(raw, true);
      } else if (next == '$' || next == '`' || next == '\\') {
        raw.add_quoted(text_.substr(at_ + 1, 1));
        at_ += 2;
      } else {
        raw.add_quoted("\\");
        ++at_;
      }
    } else if (c == '$') {
      dollar(raw, true);
    } else if (c == '`') {
      backticks(raw, true);
    } else {
      raw.add_quoted(text_.substr(at_, 1));
      ++at_;
    }
  }
  return raw;
}

} // namespace gatehouse::policy::shell
