#include "policy/safety.hpp"

#include "policy/command_words.hpp"
#include "policy/git_commands.hpp"
#include "policy/windows_commands.hpp"
#include "protocol/ascii_text.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

/// Programs that only read and print, whatever their arguments.
bool only_reads(std::string_view name) {
  return is_one_of(name, {"cat",  "cd", "cut",    "echo",  "expr", "false", "grep",  "head", "id",
                          "ls",   "nl", "numfmt", "paste", "pwd",  "rev",   "seq",   "stat", "tac",
                          "tail", "tr", "true",   "uname", "wc",   "which", "whoami"});
}

/// `uniq IN OUT` writes: one operand at most. Values of `-f -s -w` are no operands.
bool is_safe_uniq(words args) {
  std::size_t operand_count = 0;
  bool only_operands = false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (!only_operands && arg == "--")
      only_operands = true;
    else if (!only_operands &&
             is_one_of(arg, {"-f", "-s", "-w", "--skip-fields", "--skip-chars", "--check-chars"}))
      ++i;
    else if (only_operands || !arg.starts_with('-') || arg == "-")
      ++operand_count;
  }
  return operand_count <= 1;
}

bool is_safe_base64(words args) {
  return !any_abbreviates(args, "output") && !any_has_short(args, 'o');
}

bool is_safe_find(words args) {
  return std::ranges::none_of(args, [](std::string_view arg) {
    return arg.starts_with("-exec") || arg.starts_with("-ok") || arg.starts_with("-fprint") ||
           is_one_of(arg, {"-delete", "-fls"});
  });
}

/// `--pre` and `--hostname-bin` start programs, as does `-z` (decompressors found on the PATH).
/// `--` is no help: it may be the value of the option before it.
bool is_safe_rg(words args) {
  return std::ranges::none_of(args, [](std::string_view arg) {
    if (arg.starts_with("--")) {
      const auto name = arg.substr(0, arg.find('='));
      return is_one_of(name, {"--search-zip", "--pre", "--hostname-bin"});
    }
    if (!arg.starts_with('-')) return false;
    for (char letter : arg.substr(1)) {
      if (letter == 'z') return true;
      // The rest of the cluster is the value of these.
      if (std::string_view{"ABCEMTdefgjmrt"}.find(letter) != std::string_view::npos) return false;
    }
    return false;
  });
}

/// `12p` or `3,40p`: the only sed program that is known to just print.
bool is_print_range(std::string_view program) {
  if (!program.ends_with('p')) return false;
  program.remove_suffix(1);
  const auto comma = program.find(',');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (comma == std::string_view::npos) return is_number(program);
  return is_number(program.substr(0, comma)) && is_number(program.substr(comma + 1));
}

/// A file that looks like an option would be read as one (`sed -n 1p -i`).
bool is_safe_sed(words args) {
  return (args.size() == 2 || args.size() == 3) && args[0] == "-n" && is_print_range(args[1]) &&
         (args.size() == 2 || !args[2].starts_with('-'));
}

bool is_safe_program(words argv) {
  if (argv.empty()) return false;
  const auto name = program_name(argv[0]);
  const auto args = argv.subspan(1);
  if (name == "uniq") return is_safe_uniq(args);
  if (name == "base64") return is_safe_base64(args);
  if (name == "find") return is_safe_find(args);
  if (name == "rg") return is_safe_rg(args);
  if (name == "sed") return is_safe_sed(args);
  if (name == "git") return is_read_only_git(argv);
  return only_reads(name);
}

bool is_safe_powershell_program(words lowered) {
  const std::string_view name = lowered[0];
  if (name == "rg") return is_safe_rg(lowered.subspan(1));
  if (name == "git") return is_read_only_git(lowered);
  return is_one_of(name, {"echo",         "write-output", "write-host",
                          "dir",          "ls",           "get-childitem",
                          "gci",          "cat",          "type",
                          "gc",           "get-content",  "select-string",
                          "sls",          "findstr",      "measure-object",
                          "measure",      "get-location", "gl",
                          "pwd",          "test-path",    "tp",
                          "resolve-path", "rvpa",         "select-object",
                          "select",       "get-item"});
}

/// Cmdlets that change something, also where one stands as a word inside another command.
bool is_changing_cmdlet(std::string_view word) {
  const auto from = word.find_first_not_of("(-");
  if (from == std::string_view::npos) return false;
  word = word.substr(from, word.find_last_not_of(')') + 1 - from);
  return is_one_of(word,
                   {"set-content", "add-content", "out-file", "new-item", "remove-item",
                    "move-item", "copy-item", "rename-item", "start-process", "stop-process"});
}

} // namespace

bool is_known_safe(words argv) {
  if (!is_shell_wrapper(argv)) return is_safe_program(argv);
  const auto commands = plain_commands(argv[2]);
  return commands && std::ranges::all_of(
                         *commands, [](const auto& command) { return is_safe_program(command); });
}

bool is_known_safe_powershell(words argv) {
  if (argv.empty()) return false;
  std::vector<std::string> lowered;
  for (const auto& word : argv)
    lowered.push_back(to_lower_ascii(word));
  return std::ranges::none_of(lowered, is_changing_cmdlet) && is_safe_powershell_program(lowered);
}

} // namespace gatehouse::policy
