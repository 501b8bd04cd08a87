#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Reads shell scripts for restrictive purposes (§18a, §D2): every command that the script could
/// run, wherever it stands, with its words decoded as bash would. Nothing here proves a script
/// harmless; that is `plain_commands` alone.
namespace gatehouse::policy::shell {

/// Stands in a word's text for a part that is only known when the script runs. It reads as an
/// expansion again when the text is itself a script (`bash -c "rm $x"`).
inline constexpr std::string_view unknown_part = "${_}";

/// A run of commands in `script_reading::commands`: [begin, end).
struct command_range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// One word as a program would get it.
struct word {
  std::string text{};
  bool known = true;       ///< `text` is exactly the word
  bool may_vanish = false; ///< an unquoted expansion: none, one or several words
  bool is_cut = false;     ///< stands for words that are static, but too many to be read
  bool is_long = false;    ///< one word that is static, but too long to be kept: no option
  bool is_process = false; ///< `<(…)`: the commands in `process`
  command_range process{};
};

/// Where a command's standard input comes from, as far as the script says.
struct input_source {
  enum class kind { inherited, text, pipe, elsewhere };
  kind from = kind::inherited;
  std::string text;        ///< kind::text: `unknown_part` where it is not static
  command_range writers{}; ///< kind::pipe
  int document = 0;        ///< while reading: the here-document whose body is still to come
  bool is_cut = false;     ///< kind::text: a part of it is static, but too long to be kept
  std::string file{};      ///< kind::elsewhere: the file's path, where it is static
};

struct found_command {
  /// The words; several readings when variables may hold several values. Never empty; an entry
  /// without words is a command of assignments and redirections only.
  std::vector<std::vector<word>> readings;
  std::vector<std::string> assignments; ///< "NAME=value", "NAME=" when not static
  std::vector<std::string> write_targets;
  bool has_redirection = false;
  input_source input;
  input_source other_input; ///< text of another descriptor than the standard input
  std::string source;       ///< as written, for messages; shortened
};

/// Values that variables are seen to get, in the order seen; never the whole truth.
using variable_values = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Which syntax a shell knows. What only bash knows means something else to a POSIX shell, that may
/// run what bash takes for a pattern or a string: `[[ a || b ]]`, `a &> f b`, `$'a\'; b; \''`.
enum class dialect { bash, posix };

struct script_reading {
  std::vector<found_command> commands; ///< a command before those inside its words
  std::string error;          ///< the first syntax error, with its byte offset; empty: none
  std::size_t resume_at = 0;  ///< with an error: where the next line after it starts
  std::string unreadable_why; ///< something runs that cannot be read statically
  dialect read_as = dialect::bash;
  std::size_t expanded_words = 0; ///< while reading: words that braces and values made
  std::size_t value_bytes = 0;    ///< while reading: size of all values put into words
  bool too_large = false;         ///< a bound was reached: commands are missing
  std::set<std::string, std::less<>> functions; ///< names that the script defines
};

inline constexpr std::size_t max_commands = 4096;

/// Reads `script`. `variables` is read and extended.
script_reading read_script(std::string_view script, variable_values& variables,
                           dialect read_as = dialect::bash);

/// True when `script` may hold syntax that is not the same in both dialects.
bool depends_on_dialect(std::string_view script) noexcept;

/// Reads `text` as the body of an expanding here-document: only what its expansions run.
script_reading read_expansions(std::string_view text, variable_values& variables);

/// Commands whose output is put together; of more, nothing is read.
inline constexpr std::size_t max_writers = 256;

/// What the commands print, when all are `echo`, `printf` or `cat` of static text; `known` is
/// cleared when part of it is only known when it runs.
std::string printed_text(const script_reading& reading, command_range range, bool& known);

} // namespace gatehouse::policy::shell
