#include "policy/shell/script.hpp"

#include "policy/shell/script_reader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace gatehouse::policy::shell {
namespace {

/// `text` with the escapes that printf and some echos read; `known` is cleared at the rarer ones.
std::string without_escapes(std::string_view text, bool& known) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      decoded += text[i];
      continue;
    }
    constexpr std::string_view names = "nt\\'\"";
    constexpr std::string_view meanings = "\n\t\\'\"";
    const auto escape = names.find(text[++i]);
    if (escape == std::string_view::npos)
      known = false;
    else
      decoded += meanings[escape];
  }
  return decoded;
}

std::string printed_by_echo(std::span<const word> arguments, bool& known) {
  bool escapes = false;
  while (!arguments.empty() && arguments.front().text.size() > 1 &&
         arguments.front().text.front() == '-' &&
         arguments.front().text.find_first_not_of("neE", 1) == std::string::npos) {
    escapes = escapes || arguments.front().text.find('e') != std::string::npos;
    arguments = arguments.subspan(1);
  }
  std::string text;
  for (const auto& argument : arguments) {
    known = known && argument.known;
    text += (&argument == &arguments.front() ? "" : " ") + argument.text;
  }
  text += '\n';
  if (text.find('\\') == std::string::npos) return text;
  auto decoded = without_escapes(text, known);
  if (escapes) return decoded;
  known = false; // some shells' echo reads escapes without being asked to: both are possible
  return text + decoded;
}

/// `%s` and the like give way to the arguments in order; a format is used again for more of them.
std::string printed_by_printf(std::span<const word> arguments, bool& known) {
  if (arguments.empty()) return {};
  for (const auto& argument : arguments)
    known = known && argument.known;
  const auto format = without_escapes(arguments.front().text, known);
  std::string text;
  std::size_t next = 1;
  constexpr int max_rounds = 4096;
  for (int round = 0; round == 0 || (next < arguments.size() && round < max_rounds); ++round) {
    const auto before = next;
    for (std::size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '%' || i + 1 == format.size()) {
        text += format[i];
        continue;
      }
      const char c = format[++i];
      if (c == '%')
        text += '%';
      else if (c != 's' && c != 'b' && c != 'q')
        known = false;
      else if (next < arguments.size())
        text += arguments[next++].text;
    }
    if (next == before) break;
  }
  known = known && (next <= 1 || next >= arguments.size());
  return text;
}

/// What one command prints, as far as it is static; nothing when it is not a printer.
std::optional<std::string> printed_by(const script_reading& reading, const found_command& command,
                                      bool& known, int depth) {
  if (command.readings.size() != 1 || command.readings.front().empty() || depth > 64)
    return std::nullopt;
  const std::span<const word> words = command.readings.front();
  const auto& program = words.front().text;
  if (program == "echo") return printed_by_echo(words.subspan(1), known);
  if (program == "printf") return printed_by_printf(words.subspan(1), known);
  const bool reads_input = words.size() == 1 || (words.size() == 2 && words[1].text == "-");
  const bool copies = program == "tee" || (program == "cat" && reads_input);
  if (!copies) return std::nullopt;
  if (command.input.from == input_source::kind::text) {
    known = known && command.input.text.find(unknown_part) == std::string::npos;
    return command.input.text;
  }
  if (command.input.from != input_source::kind::pipe) return std::nullopt;
  std::string text;
  for (auto i = command.input.writers.begin; i < command.input.writers.end; ++i) {
    auto part = printed_by(reading, reading.commands[i], known, depth + 1);
    if (!part) return std::nullopt;
    text += *part;
  }
  return text;
}

} // namespace

std::string printed_text(const script_reading& reading, command_range range, bool& known) {
  if (range.end - range.begin > max_writers) {
    known = false;
    return {};
  }
  std::string text;
  // Writers feed each other inside the range: only what nobody else in it reads comes out.
  for (auto i = range.begin; i < range.end && i < reading.commands.size(); ++i) {
    bool consumed = false;
    for (auto k = i + 1; k < range.end && k < reading.commands.size(); ++k) {
      const auto& input = reading.commands[k].input;
      consumed = consumed || (input.from == input_source::kind::pipe && input.writers.begin <= i &&
                              i < input.writers.end);
    }
    if (consumed) continue;
    if (const auto part = printed_by(reading, reading.commands[i], known, 0))
      text += *part;
    else
      known = false;
  }
  return text;
}

bool depends_on_dialect(std::string_view script) noexcept {
  constexpr std::array<std::string_view, 7> syntax = {"[",  "((",       "$'",    "$\"",
                                                      "&>", "function", "select"};
  return std::any_of(syntax.begin(), syntax.end(), [&](std::string_view text) {
    return script.find(text) != std::string_view::npos;
  });
}

namespace {

script_reading read_once(std::string_view script, variable_values& variables, dialect read_as) {
  script_reading out;
  out.read_as = read_as;
  script_reader reader(script, out, variables, 0);
  reader.read_program();
  out.error = reader.error();
  out.resume_at = reader.resume_at();
  return out;
}

} // namespace

script_reading read_script(std::string_view script, variable_values& variables, dialect read_as) {
  auto out = read_once(script, variables, read_as);
  if (out.functions.empty()) return out;
  // A body stands before the calls that fill its parameters: it is read once more with them.
  bool called = false;
  for (const auto& command : out.commands) {
    const auto& words = command.readings.front();
    if (words.size() < 2 || !out.functions.contains(words.front().text)) continue;
    note_positions(variables, words, 1);
    called = true;
  }
  return called ? read_once(script, variables, read_as) : out;
}

script_reading read_expansions(std::string_view text, variable_values& variables) {
  script_reading out;
  script_reader reader(text, out, variables, 0);
  reader.read_document();
  out.error = reader.error();
  return out;
}

} // namespace gatehouse::policy::shell
