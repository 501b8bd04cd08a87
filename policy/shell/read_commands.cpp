#include "policy/shell/characters.hpp"
#include "policy/shell/script_reader.hpp"

#include <array>
#include <utility>

namespace gatehouse::policy::shell {
namespace {

constexpr int max_syntax_depth = 100;

constexpr std::array<std::string_view, 8> terminators = {"then", "do", "done", "elif",
                                                         "else", "fi", "esac", "}"};

bool is_terminator(std::string_view reserved) {
  return std::find(terminators.begin(), terminators.end(), reserved) != terminators.end();
}

} // namespace

bool script_reader::starts_compound(std::string_view reserved) const noexcept {
  constexpr std::array<std::string_view, 6> posix = {"{", "if", "while", "until", "for", "case"};
  constexpr std::array<std::string_view, 3> bash = {"select", "function", "[["};
  return std::find(posix.begin(), posix.end(), reserved) != posix.end() ||
         (!is_posix() && std::find(bash.begin(), bash.end(), reserved) != bash.end());
}

void script_reader::fail(std::string_view what) {
  if (error_.empty() && at_ <= text_.size()) {
    error_ = "syntax error at byte " + std::to_string(at_) + " of the script: " + std::string(what);
    const auto line_end = text_.find('\n', at_);
    resume_at_ = line_end == std::string_view::npos ? text_.size() : line_end + 1;
  }
  at_ = text_.size();
}

void script_reader::unreadable(std::string why) {
  if (out_.unreadable_why.empty()) out_.unreadable_why = std::move(why);
}

bool script_reader::enter() {
  if (++depth_ <= max_syntax_depth) return true;
  --depth_;
  out_.too_large = true;
  fail("constructs are nested more than 100 deep");
  return false;
}

void script_reader::skip_blanks() {
  while (!done()) {
    if (is_blank(peek())) {
      ++at_;
    } else if (looking_at("\\\n")) {
      at_ += 2;
    } else if (peek() == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

void script_reader::newline() {
  ++at_;
  document_bodies();
}

void script_reader::skip_newlines() {
  skip_blanks();
  while (peek() == '\n' && !done()) {
    newline();
    skip_blanks();
  }
}

/// The unquoted literal that stands here, when it is short enough for a reserved word.
std::string_view script_reader::reserved_word(std::size_t& end) {
  constexpr std::size_t longest = 8; // "function"
  reserved_buffer_.clear();
  end = at_;
  while (end < text_.size() && !is_word_end(text_[end])) {
    if (text_.substr(end, 2) == "\\\n") {
      end += 2;
      continue;
    }
    if (reserved_buffer_.size() == longest) return {};
    reserved_buffer_ += text_[end++];
  }
  return reserved_buffer_;
}

void script_reader::expect_reserved(std::string_view reserved) {
  std::size_t end = 0;
  if (reserved_word(end) == reserved)
    at_ = end;
  else
    fail("expected `" + std::string(reserved) + "`");
}

void script_reader::read_program() {
  list();
  if (!done()) fail("unexpected `" + shortened(text_.substr(at_, 10)) + "`");
  document_bodies(); // a document without a body, at the end of the script
}

void script_reader::list() {
  while (true) {
    skip_newlines();
    if (done() || peek() == ')') return;
    if (peek() == ';' || peek() == '|' || (peek() == '&' && (peek(1) != '>' || is_posix()))) {
      if (!looking_at(";;") && !looking_at(";&")) fail("a command is missing");
      return;
    }
    std::size_t end = 0;
    if (is_terminator(reserved_word(end))) return;
    and_or();
    skip_blanks();
    if (done()) return;
    const bool ends_item = peek() == ';' && (peek(1) == ';' || peek(1) == '&'); // of `case`
    if (peek() == '\n') {
      newline();
    } else if (peek() == '&' || (peek() == ';' && !ends_item)) {
      ++at_;
    } else if (peek() != ')' && peek() != ';') {
      return fail("a command does not end here");
    } else {
      return;
    }
  }
}

void script_reader::and_or() {
  pipeline();
  while (true) {
    skip_blanks();
    if (!looking_at("&&") && !looking_at("||")) return;
    at_ += 2;
    skip_newlines();
    pipeline();
  }
}

/// Skips `!` and, before a compound command, `time`: before a simple command `time` is read as its
/// program, and as a wrapper later.
void script_reader::pipeline_prefixes(bool after_pipe) {
  while (true) {
    skip_blanks();
    std::size_t end = 0;
    const std::string reserved(reserved_word(end));
    if (reserved == "!") {
      at_ = end;
      continue;
    }
    if (reserved != "time" || after_pipe) return; // behind a pipe bash runs a program `time`
    const auto before = std::exchange(at_, end);
    for (const std::string_view option : {"-p", "--"}) {
      skip_blanks();
      if (reserved_word(end) == option) at_ = end;
    }
    skip_blanks();
    const auto next = reserved_word(end);
    if (next != "!" && !starts_compound(next) && peek() != '(') {
      at_ = before;
      return;
    }
  }
}

void script_reader::pipeline() {
  pipeline_prefixes(false);
  auto left = out_.commands.size();
  command();
  while (true) {
    skip_blanks();
    if (peek() != '|' || peek(1) == '|') return;
    at_ += peek(1) == '&' ? 2 : 1;
    skip_newlines();
    pipeline_prefixes(true);
    const auto right = out_.commands.size();
    command();
    for (auto i = right; i < out_.commands.size(); ++i) {
      auto& input = out_.commands[i].input;
      if (input.from == input_source::kind::inherited)
        input = {input_source::kind::pipe, {}, {left, right}, 0};
    }
    left = right;
  }
}

void script_reader::command() {
  if (!enter()) return;
  const auto first = out_.commands.size();
  skip_blanks();
  std::size_t end = 0;
  if (peek() == '(') {
    const bool doubled = peek(1) == '(' && !is_posix();
    if (const auto closing = doubled ? arithmetic_end(at_ + 2) : std::nullopt) {
      at_ += 2;
      arithmetic(*closing);
    } else {
      if (doubled) unreadable("`((` that is no arithmetic ends where the shell thinks it does");
      ++at_;
      list();
      if (peek() != ')')
        fail("`(` is not closed");
      else
        ++at_;
    }
    compound_end(first);
    --depth_;
    return;
  }
  const std::string reserved(reserved_word(end));
  if (starts_compound(reserved)) {
    at_ = end;
    if (reserved == "{") {
      list();
      expect_reserved("}");
    } else if (reserved == "if") {
      if_command();
    } else if (reserved == "while" || reserved == "until") {
      list();
      expect_reserved("do");
      list();
      expect_reserved("done");
    } else if (reserved == "for" || reserved == "select") {
      for_command();
    } else if (reserved == "case") {
      case_command();
    } else if (reserved == "function") {
      function_command();
    } else {
      conditional();
    }
    compound_end(first);
  } else if (reserved == "coproc" && !is_posix()) {
    coproc_command(end);
  } else if (is_terminator(reserved)) {
    fail("unexpected `" + reserved + "`");
  } else {
    simple_command();
  }
  --depth_;
}

/// Redirections after a compound command hold for every command in it.
void script_reader::compound_end(std::size_t first) {
  found_command redirections;
  const auto last = out_.commands.size();
  skip_blanks();
  while (at_redirection()) {
    redirection(redirections, first, last);
    skip_blanks();
  }
  if (!redirections.has_redirection) return;
  for (auto i = first; i < last; ++i) {
    auto& inner = out_.commands[i];
    inner.has_redirection = true;
    inner.write_targets.insert(inner.write_targets.end(), redirections.write_targets.begin(),
                               redirections.write_targets.end());
    if (inner.input.from == input_source::kind::inherited) inner.input = redirections.input;
  }
  // Opening the file is an effect even when nothing inside runs.
  if (!redirections.write_targets.empty() && first == last) {
    redirections.readings.emplace_back();
    out_.commands.push_back(std::move(redirections));
  }
}

void script_reader::if_command() {
  list();
  expect_reserved("then");
  list();
  while (!done()) {
    std::size_t end = 0;
    const auto reserved = reserved_word(end);
    if (reserved == "elif") {
      at_ = end;
      list();
      expect_reserved("then");
      list();
    } else if (reserved == "else") {
      at_ = end;
      list();
      break;
    } else {
      break;
    }
  }
  expect_reserved("fi");
}

void script_reader::for_command() {
  skip_blanks();
  if (looking_at("((")) {
    const auto closing = arithmetic_end(at_ + 2);
    if (!closing) return fail("`((` is not closed");
    at_ += 2;
    arithmetic(*closing);
    skip_blanks();
    if (peek() == ';') ++at_;
  } else {
    const auto name = join_pieces(read_word(false).pieces);
    if (name.text.empty()) return fail("a name is missing after `for`");
    skip_newlines();
    std::size_t end = 0;
    if (reserved_word(end) == "in") {
      at_ = end;
      for (skip_blanks(); at_word(); skip_blanks()) {
        for (const auto& reading : expand_word(read_word(false)))
          for (const auto& value : reading) {
            store_value(name.text, value);
            note_subscript(value.text);
          }
      }
    }
    if (peek() == ';') ++at_;
  }
  skip_newlines();
  std::size_t end = 0;
  const bool braces = reserved_word(end) == "{";
  expect_reserved(braces ? "{" : "do");
  list();
  expect_reserved(braces ? "}" : "done");
}

void script_reader::case_command() {
  skip_blanks();
  read_word(false);
  skip_newlines();
  expect_reserved("in");
  while (!done()) {
    skip_newlines();
    std::size_t end = 0;
    if (reserved_word(end) == "esac") {
      at_ = end;
      return;
    }
    raw_word pattern;
    if (peek() == '(') ++at_;
    for (int open = 0; !done();) {
      const char c = peek();
      if (c == ')' && open == 0) break;
      open += c == '(' ? 1 : c == ')' ? -1 : 0;
      element(pattern, false);
    }
    if (done()) return fail("a pattern of `case` is not closed");
    ++at_;
    list();
    if (looking_at(";;&"))
      at_ += 3;
    else if (looking_at(";;") || looking_at(";&"))
      at_ += 2;
  }
  fail("`case` is not closed");
}

void script_reader::function_command() {
  skip_blanks();
  auto name = join_pieces(read_word(false).pieces).text;
  skip_blanks();
  if (peek() == '(') {
    ++at_;
    skip_blanks();
    if (peek() != ')') return fail("expected `)` after the function's name");
    ++at_;
  }
  function_body(std::move(name));
}

void script_reader::function_body(std::string name) {
  out_.functions.insert(std::move(name));
  skip_newlines();
  std::size_t end = 0;
  if (peek() != '(' && !starts_compound(reserved_word(end)))
    return fail("a function's body is missing");
  command();
}

void script_reader::coproc_command(std::size_t after) {
  const auto before = at_;
  at_ = after;
  skip_blanks();
  std::size_t end = 0;
  if (peek() != '(' && !starts_compound(reserved_word(end))) {
    const auto name_at = at_;
    read_word(false); // perhaps the NAME of `coproc NAME { …; }`
    skip_blanks();
    if (at_ == name_at || (peek() != '(' && !starts_compound(reserved_word(end)))) {
      at_ = before;
      return simple_command();
    }
  }
  command();
}

void script_reader::conditional() {
  raw_word sink;
  bool token_start = false;
  while (!done()) {
    const char c = peek();
    if (is_blank(c) || c == '\n') {
      ++at_;
      token_start = true;
      continue;
    }
    if (token_start && looking_at("]]") && (at_ + 2 == text_.size() || is_word_end(peek(2)))) {
      at_ += 2;
      for (const auto& piece : sink.pieces)
        note_subscript(piece.text);
      return;
    }
    token_start = false;
    element(sink, false);
  }
  fail("`[[` is not closed");
}

} // namespace gatehouse::policy::shell
