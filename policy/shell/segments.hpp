#pragma once

#include "protocol/exec_policy.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy {

/// One command that the shell may run. Words that are not known statically are left out of `argv`
/// and counted in `unknown_words`; words that are only likely (a glob, a variable with a constant
/// value, the `{}` of find) stand in `argv` and are counted too. A segment whose program itself is
/// unknown does not exist (it sets `command_analysis::unreadable_why` instead).
struct command_segment {
  std::vector<std::string> argv; ///< never empty
  segment_origin origin = segment_origin::plain;
  int unknown_words = 0;
  /// How many words of `argv` stand before the first unknown one; -1: every word is known. A
  /// pattern that agrees with `argv` up to here and goes on may match when the command runs.
  int first_unknown = -1;
  bool has_assignment = false; ///< `A=b cmd`: environment set for it
  bool has_redirection = false;
  std::vector<std::string> assignments; ///< "NAME=value" (or "NAME=" when not static) set for it
  /// Files that redirections write (`>`, `>>`, `>|`, `&>`, `<>`), as decoded words; a target that
  /// is not known statically stands here as it is written in the script (`$HOME/x`).
  std::vector<std::string> write_targets;
};

/// A file that runs as a program although no segment says so: the script that a shell or another
/// interpreter is given, and the relative program of a segment as it reads below a folder that the
/// command changes to. Only restrictive rules look at it.
struct run_file {
  command_segment command; ///< the file and the words behind it
  bool place_known = true; ///< false: `argv[0]` is in a folder that is only known when it runs
};

/// What is known about a command before anything judges it (§18–§20, §18a).
struct command_analysis {
  /// In source order. Plain commands first appear as they are; commands found inside a construct,
  /// behind a wrapper or in a nested shell follow the command that holds them. When nothing could
  /// be read there is one opaque segment: the whole argv.
  std::vector<command_segment> segments;
  /// Every command of the script is plain (§18, §D17): only then may an allow or the safe list
  /// settle it. The commands to judge for that are exactly the segments with origin `plain`, or,
  /// when there is none because `argv` itself is PowerShell (§20), those with origin `powershell`;
  /// there is at least one. All other segments can only make the result stricter.
  bool plain = false;
  /// A single-command prefix could be read although the script is not plain (§19).
  bool complex = false;
  /// Something that runs cannot be read statically (`$cmd`, `eval "$x"`, a syntax error, …): where
  /// a restrictive rule exists this prompts. Empty when everything is read.
  std::string unreadable_why;
  /// Nested deeper than 8 wrappers or shells, the tool's own outer shell not counted (§D20).
  bool too_deep = false;
  /// A limit or a grammar that is not read leaves part of what runs in the dark: that always asks.
  std::string must_ask_why;
  /// A program that takes further commands from the standard input, which nothing in the command
  /// fills: whoever is given the input of the command decides what runs. Empty: there is none.
  std::string takes_commands;
  std::vector<run_file> run_files; ///< in no order
  /// Effects of the script that belong to no command: `A=b` and `> file` alone.
  std::vector<std::string> loose_assignments;
  std::vector<std::string> loose_write_targets;
  /// `argv` was a shell wrapper (`bash -lc SCRIPT`) and this is the script; empty otherwise.
  std::string script;
};

/// Reads `argv`: unwraps `bash|sh|zsh -c|-lc SCRIPT`, splits it with the bash grammar, and finds
/// every command that may run, through wrappers and nested shells. Pure; bounded in size and depth.
command_analysis analyze_command(std::span<const std::string> argv);

/// The plain commands of a shell script, exactly as bash would run them, or nothing when the script
/// is not plain (§18, §D17). Not unwrapped further.
std::optional<std::vector<std::vector<std::string>>> plain_commands(std::string_view script);

/// True for exactly `[shell, "-c"|"-lc", script]` with a known POSIX shell (bare name or system
/// path).
bool is_shell_wrapper(std::span<const std::string> argv) noexcept;

} // namespace gatehouse::policy
