#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// Every command once: what reads the command line, what `--help` prints, the completions of the
/// shells, the man pages and the list of commands all follow this table.
namespace gatehouse::cli {

/// What stands after an option or as the last words of a command; for completions.
enum class value_kind : std::uint8_t {
  none,    ///< nothing
  text,    ///< anything; nothing is offered
  file,    ///< an existing file
  folder,  ///< an existing folder
  command, ///< a program and its words
};

/// An option a command knows.
struct option_spec {
  std::string_view name;       ///< "--profile"
  std::string_view value = {}; ///< as people read it: "NAME|JSON"; empty: a switch
  std::string_view help = {};  ///< what it does, for one line of a screen
  value_kind kind = value_kind::none;
  std::string_view choices = {}; ///< the values worth offering, with spaces between
  bool repeatable = false;
  std::string_view short_name = {}; ///< "-j"; empty: none
  bool unlisted = false; ///< seldom needed: in the man page and completed, not on the one screen

  [[nodiscard]] constexpr bool takes_value() const noexcept { return !value.empty(); }
};

/// A status that programs of ours exit with, and what it means everywhere.
struct exit_meaning {
  std::string_view status; ///< "2", "128+n"
  std::string_view meaning;
};

struct command_spec {
  std::string_view name;       ///< "run", "policy explain"
  std::string_view synopsis;   ///< what follows the name
  std::string_view summary;    ///< one line without a full stop
  std::string_view about;      ///< further lines of `--help`, each at most 80 columns; may be empty
  std::string_view notes = {}; ///< further paragraphs of the man page; may be empty
  std::span<const option_spec> options =
      {};                             ///< `-h, --help` belongs to every command and stands nowhere
  value_kind rest = value_kind::none; ///< the words after the options
  std::string_view rest_choices = {};
  std::string_view statuses; ///< of exit_statuses(), with spaces between: "own 2 120"
  std::string_view examples[2];
  bool unknown_begins_rest = false; ///< an option that is none of these is the first word of rest
  bool has_reports = false; ///< its document is the report of a call, also when there was none
  bool host = false;        ///< runs in gatehouse-host, since it needs actors
};

/// Commands with a first word in common, which the list of all commands shows in one line.
struct command_group {
  std::string_view name; ///< "policy"
  std::string_view summary;
};

/// In the order in which people read them; those of a group follow each other.
std::span<const command_spec> commands();
std::span<const command_group> command_groups();
/// Nothing when there is no such command.
const command_spec* find_command(std::string_view name);
/// The one table of exit statuses; a program may count on it.
std::span<const exit_meaning> exit_statuses();

} // namespace gatehouse::cli
