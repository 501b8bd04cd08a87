#pragma once

#include "policy/shell/limits.hpp"
#include "policy/shell/other_grammars.hpp"
#include "policy/shell/script.hpp"
#include "policy/shell/segments.hpp"
#include "policy/shell/wrappers.hpp"

#include <optional>
#include <set>
#include <span>

namespace gatehouse::policy::shell {

/// Collects the segments of one command. Everything it cannot read makes the result stricter.
class analyzer {
public:
  explicit analyzer(command_analysis& out) noexcept : out_(out) {}

  /// The script of the tool's own shell; `out.plain` and `out.complex` are set.
  void outer_script(std::string_view shell, std::string_view script);
  /// PowerShell with a script (§20); false when `argv` is something else.
  bool outer_powershell(std::span<const std::string> argv);
  /// Any other command.
  void outer_command(std::span<const std::string> argv);
  /// What only shows when the whole command has been seen: files that it writes and runs, and
  /// programs behind `cd`. To be called last, once.
  void finish();

private:
  struct context {
    int depth = 0;
    segment_origin origin = segment_origin::nested;
    const found_command* found = nullptr;    ///< the command in its script
    const script_reading* reading = nullptr; ///< the script
    const context* outer = nullptr;          ///< whose input is inherited
    bool any_shell = false;                  ///< its scripts may be read by a shell unlike bash
    shell_grammar grammar = shell_grammar::posix; ///< of the shell that reads its scripts
    std::vector<std::string> assignments{};       ///< set for it by wrappers
  };
  using words = std::span<const word>;

  void commands_of(const script_reading& reading, const context& at);
  void command(words all, const context& at);
  void segment(words all, const context& at);
  static command_segment to_segment(words all, const context& at);
  void unwrap(words all, const context& at);
  void script(std::string_view text, const context& at, variable_values variables);
  void posix_script(std::string_view text, const context& at, std::size_t first);
  void read_as(dialect dialect, std::string_view text, const context& at,
               variable_values variables);
  void script_word(const word& text, std::string_view of, const context& at);
  void joined_script(words parts, std::string_view of, const context& at);
  void wrapper(const wrapper_grammar& grammar, words all, const context& at);
  void inner_command(words inner, bool understood, std::string_view of, const context& at);

  void shell(words all, const context& at);
  word process_text(const word& process, const context& at);
  void process_script(const word& process, std::string_view of, const context& at);
  void input_script(std::string_view of, const context& at);
  std::optional<word> input_text(const context& at) const;
  void takes_commands(std::string_view of, const context& at);
  void find_actions(words all, const context& at);
  void fd_actions(words all, const context& at);
  void remote_shell(words all, const context& at);
  void parallel(words all, const context& at);
  void container(words all, const context& at);
  void git_commands(words all, const context& at);
  void git_setting(std::string key, word value, std::string_view of, const context& at);
  void note_renaming(std::string_view assignment);
  void assigned_scripts(std::span<const std::string> assignments, const context& at);
  void hidden_expansions(words all, const context& at);

  void embedded_commands(words all, const context& at);
  void daemon_starter(words all, const context& at);
  void nix_run(words all, const context& at);
  void given_words(words inner, std::string_view replaced, std::string_view input,
                   const context& at);
  void settings_of_builders(words all, std::string_view name, const context& at);
  void command_option(word value, std::string_view of, const context& at);
  void ssh_option(word value, std::string_view of, const context& at);
  void job_table(const context& at);
  void makefile(words all, const context& at);
  void copied(words all, const context& at);
  void cmake(words all, const context& at);
  void embedded_code(words all, const context& at);
  void code(const word& text, std::string_view of, const context& at, bool backticks);
  void python_module(words module_and_rest, const context& at);
  words run_by_module(words all, std::string_view of, int& files_left, const context& at);
  void awk_program(words all, const context& at);
  void sed_program(words all, const context& at);
  void powershell(words all, const context& at);

  /// How the text of a file is run.
  enum class text_kind { program, shell, code, make, sed };
  struct pending_run {
    text_kind kind = text_kind::program;
    std::vector<word> file_and_arguments;
    std::string of; ///< the program that runs it; for messages
    bool backticks = false;
    bool is_module = false; ///< the file's name may go on with an extension, or be a part of it
    context at;             ///< points to nothing
  };
  /// What a command of the script puts into a file: text, or what other files hold.
  struct written_file {
    std::string name; ///< the last component
    word text;
    std::vector<word> sources;
  };
  void runs_file(text_kind kind, words file_and_arguments, std::string_view of, const context& at,
                 bool backticks = false);
  void loads_code(const word& module, std::string_view of, const context& at,
                  bool backticks = false);
  void code_of_module(const word& module, std::string_view of, const context& at, bool backticks);
  void runs_input_file(text_kind kind, std::string_view of, const context& at,
                       bool backticks = false);
  void list_run_file(words file_and_arguments, bool is_shell, std::string_view of,
                     const context& at);
  void note_writes(const script_reading& reading, const found_command& found);
  void note_copies(words all);
  void note_code_writes(const word& code);
  void note_imports(const word& code, const context& at);
  void changes_text(std::string_view file, const context& at);
  void read_below_folders();
  void note_folder(const word& folder);
  void changes_folder(words all);
  void read_written_files();
  void run_text(const pending_run& run, const word& text);
  void sed_text(const word& program, const context& at);

  void renamed(words all, const context& at);
  void unreadable(std::string why);
  void must_ask(std::string why);
  bool deeper(const context& at) noexcept;

  command_analysis& out_;
  variable_values variables_;
  std::map<std::string, std::vector<word>, std::less<>> renames_; ///< by `alias` and `hash -p`
  int guesses_left_ = 256;
  std::size_t made_left_ = max_script_size; ///< bytes that xargs and parallel may still make
  std::vector<pending_run> runs_;
  std::set<std::string> loaded_; ///< modules among them, each with what loads it
  std::vector<written_file> writes_;
  std::vector<std::string> folders_; ///< that the command may change to, as far as they are static
  bool unknown_folder_ = false;
};

} // namespace gatehouse::policy::shell
