#include "policy/shell/characters.hpp"
#include "policy/shell/script_reader.hpp"

#include <charconv>
#include <cstdint>
#include <utility>

namespace gatehouse::policy::shell {
namespace {

constexpr std::size_t max_value_bytes = 1 << 20; // all values put into the words of one script

void append_text(raw_word& into, word_piece::kind type, std::string_view text) {
  if (into.pieces.empty() || into.pieces.back().type != type ||
      into.pieces.size() == into.value_begin)
    into.pieces.push_back({type, {}, false, {}});
  into.pieces.back().text += text;
}

void append_bare(raw_word& into, std::string_view text) {
  append_text(into, word_piece::kind::bare, text);
}

void append_quoted(raw_word& into, std::string_view text) {
  append_text(into, word_piece::kind::quoted, text);
}

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

void script_reader::unknown(raw_word& into, bool in_quotes, std::vector<std::string> values) {
  for (const auto& value : values)
    out_.value_bytes += value.size();
  if (out_.value_bytes > max_value_bytes) values.clear();
  into.pieces.push_back({word_piece::kind::unknown, {}, in_quotes, std::move(values)});
}

std::vector<std::string> script_reader::values_of(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? std::vector<std::string>{} : found->second;
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
      parenthesised_pattern(raw);
      continue;
    }
    if (assignable && raw.assigned.empty() && (c == '[' || c == '=')) {
      auto name = std::string(only_bare(raw));
      assignable = false; // from here on this is an ordinary word
      if (c == '[' && is_name(name)) {
        subscript(raw);
        if (peek() == '=' || looking_at("+=")) {
          at_ += peek() == '+' ? 2 : 1;
          append_bare(raw, "=");
          raw.assigned = name;
          raw.value_begin = raw.pieces.size();
        }
        continue;
      }
      if (c == '=' && !name.empty()) {
        if (name.back() == '+') name.pop_back();
        if (is_name(name)) {
          ++at_;
          append_bare(raw, "=");
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
      append_quoted(into, "\\");
      ++at_;
    } else {
      append_quoted(into, text_.substr(at_ + 1, 1));
      at_ += 2;
    }
    return;
  case '\'': {
    if (quotes_are_plain) break;
    const auto end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return fail("a single quote is not closed");
    append_quoted(into, text_.substr(at_ + 1, end - at_ - 1));
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
  append_bare(into, text_.substr(at_, 1));
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
  append_quoted(into, {});
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
        append_quoted(into, text_.substr(at_ + 1, 1));
        at_ += 2;
      } else {
        append_quoted(into, "\\");
        ++at_;
      }
    } else if (c == '$') {
      dollar(into, true);
    } else if (c == '`') {
      backticks(into, true);
    } else {
      append_quoted(into, text_.substr(at_, 1));
      ++at_;
    }
  }
  at_ = begin;
  fail("a double quote is not closed");
}

void script_reader::dollar(raw_word& into, bool in_quotes) {
  const char next = peek(1);
  if (next == '(') {
    if (peek(2) == '(') {
      if (const auto end = arithmetic_end(at_ + 3)) {
        at_ += 3;
        arithmetic(*end, 2);
        return unknown(into, true);
      }
    }
    if (peek(2) == '(')
      unreadable("`$((` that is no arithmetic ends where the shell thinks it does");
    return command_substitution(into, in_quotes);
  }
  if (next == '{') return braced_parameter(into, in_quotes);
  if (next == '[') {
    at_ += 2;
    raw_word sink;
    for (int open = 1; !done();) {
      const char c = peek();
      open += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (open == 0) {
        ++at_;
        return unknown(into, true);
      }
      element(sink, true);
    }
    return fail("`$[` is not closed");
  }
  if (next == '\'' && !in_quotes) return ansi_quoted(into);
  if (next == '"' && !in_quotes) {
    ++at_;
    return double_quoted(into);
  }
  auto end = at_ + 1;
  if (is_name_start(next)) {
    while (end < text_.size() && is_name_part(text_[end]))
      ++end;
  } else if (next != '\0' &&
             std::string_view("0123456789@*#?-$!").find(next) != std::string_view::npos) {
    ++end;
  } else {
    append_bare(into, "$");
    ++at_;
    return;
  }
  const auto name = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end;
  unknown(into, in_quotes && name != "@", values_of(name));
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
  append_quoted(into, text);
}

void script_reader::braced_parameter(raw_word& into, bool in_quotes) {
  if (!enter()) return;
  const auto begin = at_;
  at_ += 2;
  bool plain_value = true;
  if ((peek() == '!' || peek() == '#') && peek(1) != '}') {
    plain_value = false;
    ++at_;
  }
  const auto name_begin = at_;
  while (is_name_part(peek()))
    ++at_;
  if (at_ == name_begin && peek() != '}' && !done()) ++at_; // a special parameter
  const auto name = text_.substr(name_begin, at_ - name_begin);
  bool splits = name == "@";
  if (peek() == '[') {
    splits = splits || looking_at("[@]");
    raw_word sink;
    subscript(sink);
  }
  const auto operator_begin = at_;
  const bool colon = peek() == ':';
  const char operation = peek(colon ? 1 : 0);
  raw_word operand;
  std::vector<std::string> values;
  if (operation == '-' || operation == '=' || operation == '?' || operation == '+')
    at_ += colon ? 2 : 1;
  else if (colon || operation != '}')
    plain_value = false;
  while (!done() && peek() != '}')
    element(operand, in_quotes);
  if (done()) {
    at_ = begin;
    fail("`${` is not closed");
    --depth_;
    return;
  }
  if (looking_at("}") && text_.substr(operator_begin, 2) == "@P")
    unreadable("`${…@P}` runs what the variable holds");
  ++at_;
  if (text_.substr(begin, at_ - begin).find("\\\n") != std::string_view::npos)
    unreadable("a line continuation stands inside `${…}`");
  if (in_quotes && text_.substr(begin, at_ - begin).find('\'') != std::string_view::npos)
    unreadable("a single quote inside `\"${…}\"` is read differently by different shells");
  if (plain_value) {
    if (operation != '+') values = values_of(name);
    if (operation == '-' || operation == '=' || operation == '+') {
      const auto text = join_pieces(operand.pieces);
      if (text.known) values.push_back(text.text);
      if (operation == '=' && text.known) variables_[std::string(name)].push_back(text.text);
    }
  }
  unknown(into, in_quotes && !splits, std::move(values));
  --depth_;
}

void script_reader::subscript(raw_word& into) {
  append_bare(into, "[");
  ++at_;
  for (int open = 1; !done();) {
    const char c = peek();
    if (c == '[') ++open;
    if (c == ']' && --open == 0) {
      append_bare(into, "]");
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

void script_reader::command_substitution(raw_word& into, bool in_quotes) {
  if (!enter()) return;
  const auto begin = at_;
  const auto first = out_.commands.size();
  at_ += 2;
  auto outer = std::exchange(documents_, {});
  list();
  if (peek() != ')') {
    at_ = begin;
    fail("`$(` is not closed");
  } else {
    ++at_;
  }
  if (!documents_.empty()) unreadable("a here-document of a command substitution has no body");
  documents_ = std::move(outer);
  bool known = true;
  const command_range range{first, out_.commands.size()};
  auto text = printed_text(out_, range, known);
  while (text.ends_with('\n'))
    text.pop_back();
  unknown(into, in_quotes,
          known && range.begin != range.end ? std::vector{text} : std::vector<std::string>{});
  --depth_;
}

void script_reader::backticks(raw_word& into, bool in_quotes) {
  if (!enter()) return;
  const auto first = out_.commands.size();
  std::string script;
  auto end = at_ + 1;
  for (; end < text_.size() && text_[end] != '`'; ++end) {
    if (text_[end] == '\\' && end + 1 < text_.size()) {
      const char next = text_[end + 1];
      if (next == '\\' || next == '$' || next == '`' || (in_quotes && next == '"')) {
        script += next;
        ++end;
        continue;
      }
    }
    script += text_[end];
  }
  if (end >= text_.size()) {
    fail("a backtick is not closed");
  } else {
    at_ = end + 1;
    script_reader inner(script, out_, variables_, depth_);
    inner.read_program();
    if (!inner.error_.empty()) unreadable("inside backticks: " + inner.error_);
  }
  bool known = true;
  const command_range range{first, out_.commands.size()};
  auto text = printed_text(out_, range, known);
  while (text.ends_with('\n'))
    text.pop_back();
  unknown(into, in_quotes,
          known && range.begin != range.end ? std::vector{text} : std::vector<std::string>{});
  --depth_;
}

void script_reader::process_substitution(raw_word& into) {
  if (!enter()) return;
  const auto begin = at_;
  const bool writes = peek() == '>';
  const auto first = out_.commands.size();
  at_ += 2;
  auto outer = std::exchange(documents_, {});
  list();
  if (peek() != ')') {
    at_ = begin;
    fail("`<(` is not closed");
  } else {
    ++at_;
  }
  if (!documents_.empty()) unreadable("a here-document of a process substitution has no body");
  documents_ = std::move(outer);
  if (writes)
    for (auto i = first; i < out_.commands.size(); ++i)
      if (out_.commands[i].input.from == input_source::kind::inherited)
        out_.commands[i].input.from = input_source::kind::elsewhere;
  unknown(into, true);
  into.is_process = !writes;
  into.process = {first, out_.commands.size()};
  --depth_;
}

std::optional<std::size_t> script_reader::arithmetic_end(std::size_t from) const noexcept {
  int open = 2;
  for (auto i = from; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '\\') {
      ++i;
    } else if (c == '"' || c == '\'') {
      i = text_.find(c, i + 1);
      if (i == std::string_view::npos) return std::nullopt;
    } else if (c == '(') {
      ++open;
    } else if (c == ')' && --open == 1) {
      return text_.substr(i, 2) == "))" ? std::optional(i) : std::nullopt;
    }
  }
  return std::nullopt;
}

void script_reader::arithmetic(std::size_t end, std::size_t closing) {
  if (!enter()) return;
  raw_word sink;
  while (!done() && at_ < end)
    element(sink, true);
  if (at_ > end)
    fail("an arithmetic expression is not closed where it seemed to be");
  else
    at_ = end + closing;
  --depth_;
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
        append_quoted(raw, text_.substr(at_ + 1, 1));
        at_ += 2;
      } else {
        append_quoted(raw, "\\");
        ++at_;
      }
    } else if (c == '$') {
      dollar(raw, true);
    } else if (c == '`') {
      backticks(raw, true);
    } else {
      append_quoted(raw, text_.substr(at_, 1));
      ++at_;
    }
  }
  return raw;
}

} // namespace gatehouse::policy::shell
