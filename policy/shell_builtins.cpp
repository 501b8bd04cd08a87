#include "policy/shell_builtins.hpp"

#include <algorithm>
#include <array>

namespace gatehouse::policy {
namespace {

/// Builtins of bash, zsh and POSIX shells other than `printf`, `test` and those that only print.
/// Sorted.
constexpr std::array<std::string_view, 111> acting_builtins = {
    ".",           "alias",    "autoload",      "bg",         "bind",     "bindkey",
    "break",       "builtin",  "bye",           "caller",     "cd",       "chdir",
    "command",     "compadd",  "comparguments", "compcall",   "compctl",  "compdescribe",
    "compfiles",   "compgen",  "compgroups",    "complete",   "compopt",  "compquote",
    "compset",     "comptags", "comptry",       "compvalues", "continue", "declare",
    "dirs",        "disable",  "disown",        "echotc",     "echoti",   "emulate",
    "enable",      "eval",     "exec",          "exit",       "export",   "fc",
    "fg",          "float",    "functions",     "getln",      "getopts",  "hash",
    "help",        "history",  "integer",       "jobs",       "let",      "limit",
    "local",       "logout",   "mapfile",       "noglob",     "popd",     "print",
    "private",     "pushd",    "pushln",        "r",          "read",     "readarray",
    "readonly",    "rehash",   "return",        "sched",      "set",      "setopt",
    "shift",       "shopt",    "source",        "suspend",    "times",    "trap",
    "ttyctl",      "type",     "typeset",       "ulimit",     "umask",    "unalias",
    "unfunction",  "unhash",   "unlimit",       "unset",      "unsetopt", "vared",
    "wait",        "whence",   "where",         "zcompile",   "zcurses",  "zformat",
    "zftp",        "zle",      "zmodload",      "zparseopts", "zprof",    "zpty",
    "zregexparse", "zselect",  "zsocket",       "zstat",      "zstyle",   "zsystem",
    "ztcp",        "ztie",     "zuntie"};

/// Every conversion of `format` puts in a text as it is. Others store a count (`%n`) or, in some
/// shells, evaluate their argument as arithmetic (`%d`).
bool only_puts_text(std::string_view format) {
  for (auto at = format.find('%'); at != std::string_view::npos; at = format.find('%', at)) {
    at = format.find_first_not_of("-0123456789. ", at + 1);
    if (at == std::string_view::npos) return false;
    if (std::string_view{"%sbqc"}.find(format[at]) == std::string_view::npos) return false;
    ++at;
  }
  return true;
}

bool is_plain_printf(words args) {
  if (!args.empty() && args[0] == "--") args = args.subspan(1);
  return args.empty() || (!args[0].starts_with('-') && only_puts_text(args[0]));
}

/// `-v` and `-R` take subscripts; the numeric comparisons and `-t` are arithmetic in some shells.
bool is_plain_test(words args) {
  return std::ranges::none_of(args, [](std::string_view arg) {
    return is_one_of(arg, {"-v", "-R", "-t", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"});
  });
}

} // namespace

bool acts_inside_shell(words argv) {
  if (argv.empty()) return false;
  const auto args = argv.subspan(1);
  const std::string_view name = argv[0];
  if (name == "printf") return !is_plain_printf(args);
  if (name == "test" || name == "[") return !is_plain_test(args);
  return std::ranges::binary_search(acting_builtins, name);
}

} // namespace gatehouse::policy
