#include "policy/shell/characters.hpp"
#include "policy/shell/script_reader.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

namespace gatehouse::policy::shell {
namespace {

constexpr std::size_t max_readings = 64;
constexpr std::size_t max_words_of_a_reading = 256;
constexpr std::size_t max_expanded_words = 1 << 15; // of one script
// What is kept of variables is copied for every nested script.
constexpr std::size_t max_values = 64;
constexpr std::size_t max_value_size = 4096;
constexpr std::size_t max_variables = 512;

constexpr std::array<std::string_view, 5> declarations = {"declare", "typeset", "export",
                                                          "readonly", "local"};

} // namespace

std::string shortened(std::string_view source) {
  constexpr std::size_t shown_source = 60;
  while (!source.empty() && (is_blank(source.back()) || source.back() == '\n'))
    source.remove_suffix(1);
  std::string text(source.substr(0, shown_source));
  for (char& c : text)
    c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return source.size() > shown_source ? text + "…" : text;
}

namespace {

/// Beyond a limit `unknown_part` or `long_value` stands for what is left out.
void add_value(std::vector<std::string>& values, const std::string& value) {
  if (value.size() > max_value_size) return add_value(values, std::string(long_value));
  if (const auto known = std::find(values.begin(), values.end(), value); known != values.end())
    values.erase(known);
  if (values.size() < max_values)
    values.push_back(value);
  else if (std::find(values.begin(), values.end(), unknown_part) == values.end())
    values.insert(values.begin(), std::string(unknown_part));
}

} // namespace

void script_reader::store_value(const std::string& name, const word& value) {
  const bool left_out = value.is_cut || value.is_long;
  if (value.text.find(unknown_part) != std::string::npos && !left_out) return;
  if (variables_.size() >= max_variables && !variables_.contains(name)) {
    out_.too_large = true;
    return unreadable("the script holds more than 512 variables");
  }
  add_value(variables_[name], value.is_cut    ? std::string(unknown_part)
                              : value.is_long ? std::string(long_value)
                                              : value.text);
}

bool has_running_subscript(std::string_view text) noexcept {
  for (auto at = text.find('['); at != std::string_view::npos; at = text.find('[', at + 1))
    if (at > 0 && is_name_part(text[at - 1]))
      return text.find("$(", at) != std::string_view::npos ||
             text.find('`', at) != std::string_view::npos;
  return false;
}

/// Where bash evaluates such a text, it runs what stands in the subscript; whether it does is not
/// known here, so what cannot be read there is no fault.
void script_reader::note_subscript(const std::string& text) {
  if (!has_running_subscript(text) || !enter()) return;
  script_reader inner(text, out_, variables_, depth_);
  inner.read_document();
  --depth_;
}

void script_reader::simple_command() {
  const auto begin = at_;
  const auto index = out_.commands.size();
  if (index >= max_commands) {
    out_.too_large = true;
    return fail("more than 4096 commands");
  }
  out_.commands.emplace_back();
  out_.commands.back().readings.emplace_back();
  bool declares = false;
  bool has_program = false;
  bool only_prefix = false;
  while (true) {
    skip_blanks();
    if (at_redirection()) {
      // Commands inside its words may move the vector.
      auto own = std::move(out_.commands[index]);
      redirection(own, index, index + 1);
      out_.commands[index] = std::move(own);
      continue;
    }
    if (!at_word()) break;
    auto raw = read_word(!has_program || declares);
    if (done() && !error_.empty()) return;
    if (!has_program && !raw.assigned.empty()) {
      add_assignment(index, raw);
      continue;
    }
    if (!has_program) {
      const bool bare = raw.pieces.size() == 1 && raw.pieces[0].type == word_piece::kind::bare;
      if (peek() == '(' ||
          (is_blank(peek()) && text_.find_first_not_of(" \t", at_) != std::string_view::npos &&
           text_[text_.find_first_not_of(" \t", at_)] == '(')) {
        skip_blanks();
        ++at_;
        skip_blanks();
        if (!bare || peek() != ')') return fail("unexpected `(`");
        ++at_;
        out_.commands.pop_back();
        return function_body(raw.pieces[0].text);
      }
      const auto program = join_pieces(raw.pieces);
      declares =
          std::find(declarations.begin(), declarations.end(), program.text) != declarations.end();
      // Behind these reserved words comes another command with its assignments.
      only_prefix = bare && (program.text == "time" || program.text == "coproc" ||
                             (only_prefix && (program.text == "-p" || program.text == "--")));
      has_program = !only_prefix;
    } else if (declares && !raw.assigned.empty()) {
      note_value(raw);
    }
    add_word(index, raw);
  }
  auto& self = out_.commands[index];
  if (!has_program && !only_prefix && self.assignments.empty() && !self.has_redirection)
    return fail("a command is missing");
  for (const auto& w : self.readings.front())
    if (!w.known && self.source.empty()) self.source = shortened(text_.substr(begin, at_ - begin));
  note_words(self);
}

void script_reader::add_word(std::size_t index, const raw_word& raw) {
  std::vector<std::vector<word>> choices;
  if (out_.expanded_words <= max_expanded_words) {
    choices = expand_word(raw);
  } else {
    unreadable("braces and variables make too many words");
    choices = {{word{
        .text = std::string(unknown_part), .known = false, .may_vanish = true, .is_cut = true}}};
  }
  auto& readings = out_.commands[index].readings;
  for (const auto& choice : choices)
    out_.expanded_words += choice.size() > 1 ? choice.size() : 0;
  const bool bounded = choices.size() == 1 || (readings.front().size() <= max_words_of_a_reading &&
                                               readings.size() * choices.size() <= max_readings);
  if (!bounded) {
    unreadable("the words of a command may have too many values");
    choices.resize(1);
    for (auto& w : choices.front())
      w.is_cut = true;
  }
  std::vector<std::vector<word>> others;
  for (auto& reading : readings) {
    for (const auto& choice : std::span(choices).subspan(1)) {
      others.push_back(reading);
      others.back().insert(others.back().end(), choice.begin(), choice.end());
    }
    reading.insert(reading.end(), choices.front().begin(), choices.front().end());
  }
  std::move(others.begin(), others.end(), std::back_inserter(readings));
}

void script_reader::add_assignment(std::size_t index, const raw_word& raw) {
  const std::vector<word_piece> value(
      raw.pieces.begin() + static_cast<std::ptrdiff_t>(raw.value_begin), raw.pieces.end());
  const auto text = join_pieces(value);
  out_.commands[index].assignments.push_back(raw.assigned + "=" +
                                             (text.known ? text.text : std::string{}));
  note_value(raw);
}

void script_reader::note_value(const raw_word& raw) {
  const std::vector<word_piece> value(
      raw.pieces.begin() + static_cast<std::ptrdiff_t>(raw.value_begin), raw.pieces.end());
  const auto text = join_pieces(value);
  store_value(raw.assigned, text);
  // Arithmetic, subscripts, `${…@P}` and prompts expand what a variable holds.
  if (text.known && text.text.find_first_of("$`") != std::string::npos && enter()) {
    script_reader inner(text.text, out_, variables_, depth_);
    inner.read_document();
    --depth_;
  }
}

void note_positions(variable_values& variables, const std::vector<word>& words, std::size_t first) {
  constexpr std::size_t max_positions = 256;
  std::string joined;
  const auto store = [&](const std::string& name, const std::string& value) {
    add_value(variables[name], value);
  };
  for (auto i = first; i < words.size() && i - first < max_positions; ++i) {
    if (words[i].text.find(unknown_part) != std::string::npos) continue;
    store(std::to_string(i - first + 1), words[i].text);
    joined += (joined.empty() ? "" : " ") + words[i].text;
  }
  if (joined.empty()) return;
  store("@", joined);
  store("*", joined);
}

/// `set -- a b` makes positional parameters of its words.
void script_reader::note_words(const found_command& self) {
  const auto& words = self.readings.front();
  if (words.size() < 2 || words[0].text != "set") return;
  std::size_t first = 1;
  while (first < words.size() &&
         (words[first].text.starts_with('-') || words[first].text.starts_with('+')))
    ++first;
  note_positions(variables_, words, first);
}

} // namespace gatehouse::policy::shell
