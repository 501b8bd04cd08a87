#include "policy/shell/characters.hpp"
#include "policy/shell/script_reader.hpp"

#include <utility>

namespace gatehouse::policy::shell {
namespace {

constexpr std::size_t max_value_bytes = 1 << 20; // all values put into the words of one script

} // namespace

void script_reader::unknown(raw_word& into, bool in_quotes, std::vector<std::string> values) {
  // Where IFS was given a value, the words may be split there as well.
  if (const auto own = variables_.find("IFS"); !in_quotes && own != variables_.end())
    for (std::size_t i = 0, count = values.size(); i < count; ++i) {
      auto split = values[i];
      for (const auto& separators : own->second)
        for (auto& c : split)
          if (separators.find(c) != std::string::npos) c = ' ';
      if (split != values[i]) values.push_back(std::move(split));
    }
  for (const auto& value : values)
    out_.value_bytes += value.size();
  if (out_.value_bytes > max_value_bytes) values.clear();
  into.pieces.push_back({word_piece::kind::unknown, {}, in_quotes, std::move(values)});
}

std::vector<std::string> script_reader::values_of(std::string_view name) const {
  const auto found = variables_.find(name);
  auto values = found == variables_.end() ? std::vector<std::string>{} : found->second;
  if (name == "IFS") values.insert(values.begin(), " \t\n"); // what it is from the beginning
  return values;
}

void script_reader::dollar(raw_word& into, bool in_quotes) {
  const char next = peek(1);
  if (next == '(') {
    if (peek(2) == '(') {
      if (const auto end = arithmetic_end(at_ + 3)) {
        at_ += 3;
        arithmetic(*end);
        return unknown(into, true);
      }
    }
    if (peek(2) == '(')
      unreadable("`$((` that is no arithmetic ends where the shell thinks it does");
    return command_substitution(into, in_quotes);
  }
  if (next == '{') return braced_parameter(into, in_quotes);
  if (next == '[' && !is_posix()) {
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
  if (next == '\'' && !in_quotes && !is_posix()) return ansi_quoted(into);
  if (next == '"' && !in_quotes && !is_posix()) {
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
    into.add_bare("$");
    ++at_;
    return;
  }
  const auto name = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end;
  unknown(into, in_quotes && name != "@", values_of(name));
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
      if (operation == '=' && text.known) store_value(std::string(name), text);
    }
  }
  unknown(into, in_quotes && !splits, std::move(values));
  into.pieces.back().has_braces =
      !in_quotes &&
      text_.substr(begin + 2, at_ - begin - 3).find_first_of("{}") != std::string_view::npos;
  --depth_;
}

/// What the commands from `first` on print takes their place.
void script_reader::substituted(raw_word& into, bool in_quotes, std::size_t first) {
  const command_range range{first, out_.commands.size()};
  bool known = range.begin != range.end;
  auto text = printed_text(out_, range, known);
  while (text.ends_with('\n'))
    text.pop_back();
  unknown(into, in_quotes, known ? std::vector{std::move(text)} : std::vector<std::string>{});
}

void script_reader::inner_list(const std::string& opening, const std::string& name) {
  const auto begin = at_;
  at_ += 2;
  auto outer = std::exchange(documents_, {});
  list();
  if (peek() != ')') {
    at_ = begin;
    fail("`" + opening + "` is not closed");
  } else {
    ++at_;
  }
  if (!documents_.empty()) unreadable("a here-document of " + name + " has no body");
  documents_ = std::move(outer);
}

void script_reader::command_substitution(raw_word& into, bool in_quotes) {
  if (!enter()) return;
  const auto first = out_.commands.size();
  inner_list("$(", "a command substitution");
  substituted(into, in_quotes, first);
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
  substituted(into, in_quotes, first);
  --depth_;
}

void script_reader::process_substitution(raw_word& into) {
  if (!enter()) return;
  const bool writes = peek() == '>';
  const auto first = out_.commands.size();
  inner_list("<(", "a process substitution");
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

void script_reader::arithmetic(std::size_t end) {
  if (!enter()) return;
  raw_word sink;
  for (int open = 0; !done();) {
    const char c = peek();
    if (c == ')' && open == 0) break;
    open += c == '(' ? 1 : c == ')' ? -1 : 0;
    element(sink, true);
  }
  if (at_ != end) unreadable("an arithmetic expression ends where only the shell knows");
  if (looking_at("))"))
    at_ += 2;
  else
    fail("an arithmetic expression is not closed");
  --depth_;
}

} // namespace gatehouse::policy::shell
