#include "policy/safety.hpp"

#include "policy/file_danger.hpp"
#include "policy/fork_bomb.hpp"
#include "policy/git_commands.hpp"
#include "policy/service_danger.hpp"
#include "policy/windows_commands.hpp"
#include "protocol/ascii_text.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

using reason = std::optional<std::string>;

/// `kill -9 -1` signals every process of the user. The first option may be the signal itself.
reason find_kill_danger(words args) {
  std::size_t i = 0;
  if (i < args.size() && args[i].starts_with('-') && args[i] != "--")
    i += is_one_of(args[i], {"-s", "-n", "--signal"}) ? 2 : 1;
  for (; i < args.size(); ++i)
    if (args[i] == "-1") return "it signals every process of this user";
  return std::nullopt;
}

reason find_system_danger(words argv) {
  const auto name = program_name(argv[0]);
  const auto args = argv.subspan(1);
  constexpr auto stops = "it stops or restarts the machine";
  if (is_one_of(name, {"shutdown", "reboot", "halt", "poweroff"})) return stops;
  if (is_one_of(name, {"init", "telinit"}) && !args.empty() && is_one_of(args[0], {"0", "6"}))
    return stops;
  if (is_one_of(name, {"systemctl", "loginctl"}))
    for (std::string_view arg : args) {
      if (arg.ends_with(".target")) arg.remove_suffix(7);
      if (is_one_of(arg, {"poweroff", "reboot", "halt", "kexec", "soft-reboot", "emergency",
                          "rescue", "suspend", "hibernate", "hybrid-sleep", "shutdown",
                          "suspend-then-hibernate", "sleep", "exit"}))
        return stops;
    }
  if (name == "kexec" && (any_has_short(args, 'e') || any_abbreviates(args, "exec"))) return stops;
  if (name == "kill") return find_kill_danger(args);
  if (is_one_of(name, {"pkill", "killall"})) {
    // Of a user and of nothing else.
    const bool by_user = any_has_short(args, 'u') || any_has_short(args, 'U') ||
                         any_abbreviates(args, "euid") || any_abbreviates(args, "uid") ||
                         any_abbreviates(args, "user");
    if (by_user && operands(args).size() <= 1) return "it signals every process of a user";
  }
  if (is_one_of(name, {"userdel", "deluser"})) return "it deletes an account";
  if (name == "ufw" && !args.empty() && args[0] == "disable") return "it switches the firewall off";
  if (is_one_of(name, {"iptables", "ip6tables"}) &&
      (any_has_short(args, 'F') || any_abbreviates(args, "flush")))
    return "it switches the firewall off";
  if (name == "killall5") return "it signals every process of this machine";
  if (name == "crontab" && (any_has_short(args, 'r') || any_abbreviates(args, "remove")))
    return "crontab -r deletes every job of this user";
  return std::nullopt;
}

std::string_view variable_of(std::string_view assignment) {
  return assignment.substr(0, assignment.find('='));
}

/// `LD_PRELOAD=./x.so git …` runs code of the file's choice inside whatever program follows.
reason find_loader_danger(std::string_view assignment) {
  const auto name = variable_of(assignment);
  const auto value = assignment.substr(std::min(name.size() + 1, assignment.size()));
  bool loads = is_one_of(
      name,
      {"LD_PRELOAD",        "LD_AUDIT",       "LD_LIBRARY_PATH",  "GCONV_PATH",    "BASH_ENV",
       "PERL5DB",           "PYTHONPATH",     "PYTHONHOME",       "PYTHONSTARTUP", "PERL5LIB",
       "PERL5OPT",          "PERLLIB",        "RUBYLIB",          "RUBYOPT",       "NODE_PATH",
       "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",  "JDK_JAVA_OPTIONS", "LUA_INIT",      "GIT_EXEC_PATH",
       "GIT_TEMPLATE_DIR",  "GCC_EXEC_PREFIX"});
  loads = loads || name.starts_with("DYLD_");
  if (name == "NODE_OPTIONS")
    for (std::string_view option : {"--require", "-r", "--import", "--loader", "--experimental-l"})
      loads = loads || value.find(option) != std::string_view::npos;
  if (!loads) return std::nullopt;
  return std::string{name} + " makes the program load code of the caller's choice";
}

/// A start-up file that another one is put in the place of: `ENV=./x sh -i`, `HOME=. bash -i`.
reason find_startup_danger(const command_segment& segment, std::string_view name) {
  const auto shell = program_name(segment.argv[0]);
  const auto args = words{segment.argv}.subspan(1);
  const bool starts_up = any_has_short(args, 'i') || any_has_short(args, 'l') ||
                         any_abbreviates(args, "login") || args.empty();
  const bool reads = (name == "ENV" && starts_up &&
                      is_one_of(shell, {"sh", "ash", "dash", "ksh", "mksh", "posh", "busybox"})) ||
                     (name == "HOME" && (is_one_of(shell, {"fish", "zsh"}) ||
                                         (starts_up && is_one_of(shell, {"bash", "ksh", "sh"})))) ||
                     (name == "ZDOTDIR" && shell == "zsh") ||
                     (name == "XDG_CONFIG_HOME" && shell == "fish");
  if (!reads) return std::nullopt;
  return std::string{name} + " makes the shell run a start-up file of the caller's choice";
}

/// Words that set or export variables of the shell.
bool sets_variables(const command_segment& segment) {
  return is_one_of(segment.argv[0], {"export", "declare", "typeset", "readonly", "local"});
}

/// The same, set by a command before: `export HOME=.; bash -i`.
reason find_startup_danger(const command_analysis& analysis) {
  const auto is_set = [&](std::string_view name) {
    const auto sets = [&](const std::string& text) { return variable_of(text) == name; };
    return std::ranges::any_of(analysis.loose_assignments, sets) ||
           std::ranges::any_of(analysis.segments, [&](const command_segment& segment) {
             return !segment.argv.empty() && sets_variables(segment) &&
                    std::ranges::any_of(segment.argv, [&](const std::string& text) {
                      return text.find('=') != std::string::npos && sets(text);
                    });
           });
  };
  for (std::string_view name : {"ENV", "HOME", "XDG_CONFIG_HOME", "ZDOTDIR"}) {
    if (!is_set(name)) continue;
    for (const auto& segment : analysis.segments)
      if (!segment.argv.empty())
        if (auto why = find_startup_danger(segment, name)) return why;
  }
  return std::nullopt;
}

reason find_loader_danger(const command_segment& segment) {
  for (const auto& assignment : segment.assignments) {
    if (auto why = find_loader_danger(assignment)) return why;
    if (auto why = find_startup_danger(segment, variable_of(assignment))) return why;
    if (assignment.starts_with("GIT_CONFIG_KEY_") &&
        to_lower_ascii(assignment).ends_with("=clean.requireforce"))
      return "with this setting git clean deletes untracked files without -f";
  }
  if (sets_variables(segment))
    for (const auto& word : words{segment.argv}.subspan(1))
      if (word.find('=') != std::string::npos)
        if (auto why = find_loader_danger(word)) return why;
  return std::nullopt;
}

reason find_target_danger(std::string_view target) {
  if (is_raw_device(target)) return "it writes to a raw device";
  if (target == "/proc/sysrq-trigger") return "it gives orders to the kernel";
  return std::nullopt;
}

/// Words that are not there at all: unlike a glob, they may turn out to be options.
int hidden_words(const command_segment& segment) {
  const auto patterns = std::ranges::count_if(segment.argv, [](const auto& word) {
    return word == "{}" || word.find_first_of("*?[") != std::string::npos;
  });
  return std::max(0, segment.unknown_words - static_cast<int>(patterns));
}

/// Programs whose output no reader of the command can know.
bool hides_text(std::string_view program) {
  return is_one_of(program, {"curl", "wget", "wget2", "fetch", "aria2c", "http", "https", "xh",
                             "base64", "base32", "xxd", "openssl", "uudecode", "nc", "ncat"});
}
bool hides_text(const command_segment& segment) {
  const auto program = program_name(segment.argv[0]);
  return hides_text(program) || (is_one_of(program, {"gh", "glab"}) && segment.argv.size() > 1 &&
                                 is_one_of(segment.argv[1], {"api"}));
}

/// Programs other than interpreters that take commands from their input.
bool runs_its_input(const command_segment& segment) {
  const auto program = program_name(segment.argv[0]);
  const auto args = words{segment.argv}.subspan(1);
  const auto reads = [&](std::initializer_list<std::string_view> options) {
    for (std::size_t i = 0; i < args.size(); ++i)
      for (const auto option : options)
        if ((args[i] == option && i + 1 < args.size() &&
             is_one_of(args[i + 1], {"-", "/dev/stdin", "/dev/fd/0"})) ||
            (args[i].starts_with(option) &&
             is_one_of(std::string_view{args[i]}.substr(option.size()),
                       {"-", "=-", "=/dev/stdin", "/dev/stdin"})))
          return true;
    return false;
  };
  if (is_one_of(program, {"at", "batch"})) return !any_has_short(args, 'f') && !args.empty();
  if (program == "crontab")
    return std::ranges::any_of(args, [](const auto& arg) { return arg == "-"; });
  if (is_one_of(program, {"make", "gmake"})) return reads({"-f", "--file", "--makefile"});
  if (is_one_of(program, {"awk", "gawk", "mawk", "sed", "gsed"})) return reads({"-f", "--file"});
  if (is_one_of(program, {"parallel", "sem"})) return operands(args).empty();
  return false;
}

bool interprets_text(std::string_view program) {
  for (std::string_view family : {"python", "pypy", "ruby", "perl", "node", "php", "lua"})
    if (program.starts_with(family)) {
      program.remove_prefix(family.size());
      return program.find_first_not_of("0123456789.js") == std::string_view::npos;
    }
  return is_one_of(program, {"sh", "bash", "zsh", "dash", "ksh", "mksh", "fish", "ash", "rbash",
                             "csh", "tcsh", "source", ".", "eval", "bun", "deno", "osascript"});
}

/// The program's text comes from standard input or from words that only show when it runs.
bool text_is_unknown(const command_segment& segment) {
  if (segment.unknown_words > 0) return true;
  const auto args = words{segment.argv}.subspan(1);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg == "-" || arg == "-s" || arg == "/dev/stdin") return true;
    // `-c TEXT`, `-m MODULE`, `-e TEXT`, a file: the text does not come from the pipe.
    if (!arg.starts_with('-') || (i + 1 < args.size() && is_one_of(arg, {"-c", "-e", "-m", "-lc"})))
      return false;
  }
  return true;
}

std::string_view without_dot(std::string_view path) noexcept {
  return path.starts_with("./") ? path.substr(2) : path;
}

/// The segment runs one of `files`, itself or through an interpreter.
bool runs_one_of(const command_segment& segment, const std::vector<std::string_view>& files) {
  const auto is_among = [&](std::string_view word) {
    return std::ranges::any_of(
        files, [&](std::string_view file) { return without_dot(file) == without_dot(word); });
  };
  if (files.empty()) return false;
  if (segment.argv[0].find('/') != std::string::npos && is_among(segment.argv[0])) return true;
  if (!interprets_text(program_name(segment.argv[0]))) return false;
  // The program, not the data it works on.
  const auto args = operands(words{segment.argv}.subspan(1));
  return !args.empty() && is_among(args.front());
}

reason find_hidden_program(const command_analysis& analysis) {
  const auto& segments = analysis.segments;
  const bool from_network = analysis.script.find("/dev/tcp/") != std::string::npos ||
                            analysis.script.find("/dev/udp/") != std::string::npos;
  const bool hidden = from_network || std::ranges::any_of(segments, [](const command_segment& s) {
                        return hides_text(s);
                      });
  if (!hidden) return std::nullopt;
  constexpr auto why = "it runs downloaded or encoded text as a program";
  std::vector<std::string_view> written; // by a program whose output nobody can know
  for (const auto& segment : segments) {
    const auto program = program_name(segment.argv[0]);
    if (interprets_text(program) && text_is_unknown(segment)) return why;
    if (runs_its_input(segment) || runs_one_of(segment, written)) return why;
    if (!hides_text(segment)) continue;
    written.insert(written.end(), segment.write_targets.begin(), segment.write_targets.end());
    const auto args = words{segment.argv}.subspan(1);
    for (std::size_t i = 0; i + 1 < args.size(); ++i)
      if (is_one_of(args[i], {"-o", "-O", "--output", "--output-document", "-out"}) ||
          (args[i].size() > 2 && args[i].starts_with('-') && args[i][1] != '-' &&
           is_one_of(std::string_view{args[i]}.substr(args[i].size() - 1), {"o", "O"})))
        written.push_back(args[i + 1]);
    // `curl -O URL`, `wget URL`: the last part of the address is the file.
    if (program == "curl" || program == "wget" || program == "wget2" || program == "aria2c")
      for (std::string_view address : operands(args)) {
        address = address.substr(0, address.find_first_of("?#"));
        if (const auto slash = address.rfind('/'); slash != std::string_view::npos)
          written.push_back(address.substr(slash + 1));
      }
  }
  return std::nullopt;
}

danger other(std::string why) {
  return {danger_kind::other, std::move(why)};
}

} // namespace

std::optional<danger> find_danger(const command_segment& segment) {
  const words argv = segment.argv;
  if (argv.empty()) return std::nullopt;
  if (argv.size() == 2 && is_one_of(argv[1], {"--help", "--version"}) &&
      segment.assignments.empty() && segment.write_targets.empty())
    return std::nullopt;
  if (segment.origin == segment_origin::powershell && !is_forced_rm(argv)) {
    if (auto why = find_powershell_danger(argv)) return other(*std::move(why));
    return std::nullopt;
  }
  if (is_forced_rm(argv)) return danger{danger_kind::forced_rm, "rm -f deletes without a question"};
  if (auto why = find_file_danger(argv, hidden_words(segment))) return other(*std::move(why));
  if (const auto name = program_name(argv[0]); name == "git" || name.starts_with("git-"))
    if (auto why = find_git_danger(argv)) return other(*std::move(why));
  for (auto find : {find_system_danger, find_service_danger, find_windows_danger})
    if (auto why = find(argv)) return other(*std::move(why));
  if (auto why = find_loader_danger(segment)) return other(*std::move(why));
  for (std::string_view target : segment.write_targets)
    if (auto why = find_target_danger(target)) return other(*std::move(why));
  return std::nullopt;
}

std::optional<danger> find_combined_danger(const command_analysis& analysis) {
  if (analysis.too_deep) return other("too deeply nested");
  if (!analysis.must_ask_why.empty()) return other(analysis.must_ask_why);
  if (auto why = find_hidden_program(analysis)) return other(*std::move(why));
  for (std::string_view target : analysis.loose_write_targets)
    if (auto why = find_target_danger(target)) return other(*std::move(why));
  for (const auto& assignment : analysis.loose_assignments)
    if (assignment.starts_with("LD_") || assignment.starts_with("BASH_ENV="))
      if (auto why = find_loader_danger(assignment)) return other(*std::move(why));
  if (auto why = find_startup_danger(analysis)) return other(*std::move(why));
  if (auto why = find_fork_bomb(analysis.script)) return other(*std::move(why));
  return std::nullopt;
}

std::optional<danger> find_danger(const command_analysis& analysis) {
  if (analysis.too_deep) return find_combined_danger(analysis);
  // A forced rm names the danger best, also where a wrapper around it is dangerous for other
  // reasons.
  std::optional<danger> first;
  for (const auto& segment : analysis.segments) {
    auto found = find_danger(segment);
    if (found && (!first || found->kind == danger_kind::forced_rm)) first = std::move(found);
    if (first && first->kind == danger_kind::forced_rm) return first;
  }
  return first ? first : find_combined_danger(analysis);
}

} // namespace gatehouse::policy
