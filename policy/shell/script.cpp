#include "policy/shell/script.hpp"

#include "policy/shell/script_reader.hpp"

#include <optional>

namespace gatehouse::policy::shell {
namespace {

/// What one command prints, as far as it is static; nothing when it is not a printer.
std::optional<std::string> printed_by(const script_reading& reading, const found_command& command,
                                      bool& known, int depth) {
  if (command.readings.size() != 1 || command.readings.front().empty() || depth > 8)
    return std::nullopt;
  const auto& words = command.readings.front();
  const auto& program = words.front().text;
  if (program == "cat" || program == "tee") {
    const bool own_input = words.size() == 1 || (words.size() == 2 && words[1].text == "-");
    if (!own_input && program == "cat") return std::nullopt;
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
  if (program != "echo" && program != "printf") return std::nullopt;
  std::string text;
  std::size_t first = 1;
  bool escapes = program == "printf";
  while (program == "echo" && first < words.size() && words[first].text.size() > 1 &&
         words[first].text.front() == '-' &&
         words[first].text.find_first_not_of("neE", 1) == std::string::npos)
    escapes = words[first++].text.find('e') != std::string::npos || escapes;
  // A format is only pasted over: `%s` and the like give way to the arguments in order.
  std::size_t next = first + 1;
  for (auto i = first; i < words.size(); ++i) {
    known = known && words[i].known;
    std::string part = words[i].text;
    if (escapes) {
      std::string decoded;
      for (std::size_t k = 0; k < part.size(); ++k) {
        if (part[k] == '\\' && k + 1 < part.size()) {
          const char c = part[++k];
          if (c == 'n')
            decoded += '\n';
          else if (c == 't')
            decoded += '\t';
          else if (c == '\\')
            decoded += '\\';
          else
            known = false;
        } else if (program == "printf" && i == first && part[k] == '%' && k + 1 < part.size()) {
          const char c = part[++k];
          if (c == '%')
            decoded += '%';
          else if ((c == 's' || c == 'b') && next < words.size())
            decoded += words[next++].text;
          else
            known = false;
        } else {
          decoded += part[k];
        }
      }
      part = std::move(decoded);
    }
    if (program == "printf" && i > first && i < next) continue;
    text += (text.empty() ? "" : " ") + part;
  }
  return text + "\n";
}

} // namespace

std::string printed_text(const script_reading& reading, command_range range, bool& known) {
  constexpr std::size_t max_writers = 64;
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

script_reading read_script(std::string_view script, variable_values& variables) {
  script_reading out;
  script_reader reader(script, out, variables, 0);
  reader.read_program();
  out.error = reader.error();
  out.resume_at = reader.resume_at();
  return out;
}

script_reading read_expansions(std::string_view text, variable_values& variables) {
  script_reading out;
  script_reader reader(text, out, variables, 0);
  reader.read_document();
  out.error = reader.error();
  return out;
}

} // namespace gatehouse::policy::shell
