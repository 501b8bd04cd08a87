#pragma once

#include "policy/shell/script.hpp"
#include "policy/shell/segments.hpp"
#include "policy/shell/wrappers.hpp"

#include <optional>
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

private:
  struct context {
    int depth = 0;
    segment_origin origin = segment_origin::nested;
    const found_command* found = nullptr;    ///< the command in its script
    const script_reading* reading = nullptr; ///< the script
    const context* outer = nullptr;          ///< whose input is inherited
    bool any_shell = false;                  ///< its scripts may be read by a shell unlike bash
    std::vector<std::string> assignments{};  ///< set for it by wrappers
  };
  using words = std::span<const word>;

  void commands_of(const script_reading& reading, const context& at);
  void command(words all, const context& at);
  void segment(words all, const context& at);
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
  void process_script(const word& process, std::string_view of, const context& at);
  void input_script(std::string_view of, const context& at);
  std::optional<word> input_text(const context& at) const;
  void find_actions(words all, const context& at);
  void fd_actions(words all, const context& at);
  void remote_shell(words all, const context& at);
  void parallel(words all, const context& at);
  void container(words all, const context& at);
  void git_commands(words all, const context& at);
  void git_setting(std::string key, word value, std::string_view of, const context& at);
  void assigned_scripts(std::span<const std::string> assignments, const context& at);
  void hidden_expansions(words all, const context& at);

  void embedded_commands(words all, const context& at);
  void given_words(words inner, std::string_view replaced, std::string_view input,
                   const context& at);
  void settings_of_builders(words all, std::string_view name, const context& at);
  void command_option(word value, std::string_view of, const context& at);
  void ssh_option(word value, std::string_view of, const context& at);
  void job_table(const context& at);
  void makefile(words all, const context& at);
  void copied(words all, const context& at);
  void embedded_code(words all, const context& at);
  void code(const word& text, std::string_view of, const context& at, bool backticks);
  void awk_program(words all, const context& at);
  void sed_program(words all, const context& at);
  void powershell(words all, const context& at);

  void unreadable(std::string why);
  bool deeper(const context& at) noexcept;

  command_analysis& out_;
  variable_values variables_;
  int guesses_left_ = 256;
};

} // namespace gatehouse::policy::shell
