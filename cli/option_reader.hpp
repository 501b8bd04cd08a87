#pragma once

#include "cli/command_table.hpp"
#include "cli/output.hpp"
#include "protocol/result.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::cli {

using arguments = std::span<const char* const>;

/// A command line taken apart.
class options {
public:
  /// Options go by their long names.
  [[nodiscard]] bool has(std::string_view name) const;
  /// The value of an option that may be given once.
  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
  /// The value as a number; anything but decimal digits, or a number out of range, is
  /// errc::invalid_request.
  [[nodiscard]] result<std::optional<std::uint64_t>>
  whole_number(std::string_view name, std::uint64_t least, std::uint64_t most) const;
  /// The words that are no options, and all that follow `--`; of a command that takes a program and
  /// its words, all from the first one that is no option.
  [[nodiscard]] const std::vector<std::string>& rest() const noexcept { return rest_; }

private:
  friend struct reading read_words(arguments, const command_spec&);
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::string> rest_;
};

/// A command line read to its end, whatever is wrong with it.
struct reading {
  options words;
  std::optional<error> wrong; ///< the first that is
  /// `--json` or `--jsonl` is an option here, known to the command or not, and whatever is wrong
  /// with it: a program reads what comes.
  bool for_program = false;
};

/// Reads `--name value`, `--name=value`, `-n value` and `--flag` up to `--`, or, of a command that
/// takes a program and its words, up to the first other word, as the table has the command;
/// `--help` and `-h` belong to every command. An unknown option, one given twice, or one without
/// its value is errc::invalid_request, with the option that was probably meant; the next word is
/// its value where that one takes a value. A next word that is `--` or exactly an option of this
/// command is no value: it was forgotten. `--name=--other` gives such a value.
reading read_words(arguments given, const command_spec& command);
/// The same, when nothing is wrong.
result<options> read_options(arguments given, const command_spec& command);

/// `--timeout-ms`, above 0.
result<std::optional<std::chrono::milliseconds>> time_limit_of(const options& given);

/// The command line of one command, or why there is none to run.
struct command_line {
  std::optional<options> given;
  int status = 0; ///< without `given`: what to exit with
};

/// Reads the words after the name of a command. Prints the help that was asked for, or what is
/// wrong with the words, itself.
/// @param command a name of the table
command_line open_command_line(std::string_view command, arguments words);

/// How the words after `gatehouse help` are read, which is no command of the table.
const command_spec& help_words();

/// What the whole command line of `gatehouse`, from its command on, asks failures to be told as
/// that come before open_command_line(). Where no such command is known it is read as of the one
/// that was probably meant, or else as of one that takes a program.
failure_document document_asked_for(arguments given);

/// Says what is wrong with the words after `command`, shows its first example, and where to read
/// on; returns exit_wrong_usage.
int wrong_usage_of(std::string_view command, std::string_view what);
int wrong_usage_of(std::string_view command, const error& what);

} // namespace gatehouse::cli
