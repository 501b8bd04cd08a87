#pragma once

#include "policy/shell/script.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy::shell {

/// What the words after the options and operands are.
enum class command_form {
  words,          ///< a command
  joined_script,  ///< joined with blanks, a shell script
  script_a_word,  ///< each word is a shell script
  shell_operands, ///< a user, then operands of a shell (`su USER -c SCRIPT`)
  none,           ///< nothing that runs
};

/// The options of one program that runs another, as its manual states them.
struct wrapper_grammar {
  std::string_view name;
  std::string_view flags{};    ///< short options without a value
  std::string_view values{};   ///< short options with a value, attached or as the next word
  std::string_view optional{}; ///< short options whose value can only be attached
  /// Long options, separated by blanks: `name`, `name=` (has a value), `name?` (`=value` only).
  std::string_view longs{};
  int operands = 0;               ///< words between the options and the command
  bool takes_assignments = false; ///< `NAME=value` words before the command
  bool takes_numbers = false;     ///< `-5`, `+5` are options
  /// Options whose value is a shell script, separated by blanks: "c command".
  std::string_view scripts{};
  bool options_anywhere = false; ///< options may follow operands
  command_form form = command_form::words;
};

/// The grammar of a wrapper by its base name; nullptr when it is none.
const wrapper_grammar* find_wrapper(std::string_view name) noexcept;

struct parsed_option {
  std::string_view name; ///< one letter, or the full long name
  word value{};
};

struct parsed_options {
  std::vector<parsed_option> options;
  std::size_t command = 0; ///< index of the first word that is no option
  bool understood = true;  ///< false: an unknown option or an unknown word among them
};

/// Reads the options in `words` from `first` on. Abbreviated long options are understood.
parsed_options parse_options(const wrapper_grammar& grammar, std::span<const word> words,
                             std::size_t first);

/// Splits the text of `env -S` into words.
std::vector<word> split_env_string(std::string_view text);

} // namespace gatehouse::policy::shell
