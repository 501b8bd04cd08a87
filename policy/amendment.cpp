#include "policy/amendment.hpp"

#include "policy/command_words.hpp"
#include "policy/safety.hpp"
#include "policy/shell/wrappers.hpp"
#include "policy/shell_builtins.hpp"
#include "policy/windows_commands.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

/// `/usr/bin/python3.11` → `python`, `Node.EXE` → `node`: one name for all versions of a program.
std::string family_of(std::string_view word) {
  auto name = windows_name(word);
  const auto kept = name.find_last_not_of("0123456789.-");
  if (kept != std::string::npos) name.resize(kept + 1);
  return name;
}

/// They run the text or file they are given; a script as the first word pins what runs.
bool is_interpreter(std::string_view family) {
  return is_one_of(family,
                   {"python",    "pythonw", "pypy",    "py",     "pyw",     "ipython", "node",
                    "nodejs",    "bun",     "deno",    "tsx",    "ts-node", "ruby",    "irb",
                    "perl",      "php",     "lua",     "luajit", "rscript", "r",       "julia",
                    "osascript", "tclsh",   "wish",    "guile",  "racket",  "sbcl",    "clisp",
                    "runghc",    "ghci",    "scala",   "groovy", "kotlin",  "jshell",  "java",
                    "elixir",    "erl",     "escript", "iex",    "swift",   "ocaml",   "octave",
                    "sh",        "bash",    "zsh",     "dash",   "ksh",     "mksh",    "ash",
                    "fish",      "csh",     "tcsh",    "rbash",  "nu",      "xonsh",   "elvish"});
}

/// Whatever follows decides what runs, what is read or what is reached: no prefix of these is
/// narrow.
bool runs_anything(std::string_view family) {
  return is_one_of(
      family,
      {// Other shells and shell built-ins that run their words.
       "powershell", "pwsh", "cmd", "eval", "exec", "source", ".", "command", "builtin", "trap",
       "alias", "coproc", "enable", "hash", "export", "declare", "typeset", "set",
       // Wrappers.
       "env", "sudo", "doas", "su", "runuser", "pkexec", "run0", "xargs", "parallel", "nice",
       "ionice", "timeout", "gtimeout", "nohup", "setsid", "stdbuf", "time", "watch", "strace",
       "ltrace", "chroot", "unshare", "nsenter", "bwrap", "firejail", "flatpak", "systemd-run",
       "at", "batch", "script", "expect", "screen", "tmux", "entr", "busybox", "toybox", "flock",
       "unbuffer", "caffeinate", "arch", "setarch", "taskset", "chrt", "numactl", "proot",
       "fakeroot", "valgrind", "perf", "gdb", "lldb", "rlwrap", "direnv", "nix", "nix-shell",
       "conda", "mamba", "mise", "asdf", "wsl", "start", "ld-linux-x86-64.so", "ld.so", "ld-linux",
       "watchexec", "nodemon", "concurrently", "dotenv", "cross-env", "winpty", "setpriv",
       "uclampset", "coresched", "pipesz", "runcon", "schroot", "sshpass", "fakechroot", "logsave",
       "libtool", "ccache", "sccache", "distcc", "icecc", "lxc-attach", "lxc-execute", "xinit",
       "startx", "sudo-rs", "please", "singularity", "apptainer", "pyenv", "rbenv", "nvm",
       // Programs with an option or a language that runs commands.
       "find", "fd", "fdfind", "rg", "awk", "gawk", "mawk", "nawk", "sed", "gsed", "make", "gmake",
       "ninja", "just", "rake", "tar", "bsdtar", "gtar", "zip", "split", "sort", "m4", "sqlite",
       "psql", "mysql", "vi", "vim", "nvim", "view", "emacs", "nano", "ed", "ex", "less", "more",
       "man", "pager", "crontab", "systemctl", "launchctl", "service", "rundll", "mshta", "gvim",
       "rvim", "rview", "gview", "evim", "vimdiff", "helix", "hx", "kak", "micro", "joe", "openssl",
       "dd", "mount", "umount", "dpkg", "rpm", "test", "[",
       // Other machines and downloads.
       "ssh", "scp", "sftp", "rsync", "curl", "wget", "nc", "ncat", "netcat", "socat", "telnet",
       "ftp", "aria2c", "npx", "bunx", "pnpx", "uvx", "pipx", "mosh"});
}

/// Each further word is one more thing that they overwrite, destroy or open up.
bool changes_every_operand(std::string_view family) {
  return is_one_of(family, {"rm", "rmdir", "unlink", "mv", "cp", "ln", "tee", "install", "truncate",
                            "chmod", "chown", "chgrp", "kill", "pkill", "killall"});
}

/// They act on whatever the later words name: harmless only for words that are already there.
bool acts_on_operands(std::string_view family) {
  return changes_every_operand(family) ||
         is_one_of(family, {"touch", "mkdir", "patch", "xdg-open", "open"});
}

/// `python3 -m MODULE` pins a module, except these, which run what later words name.
bool is_running_module(std::string_view module) {
  return is_one_of(module, {"timeit", "code", "runpy", "pdb", "trace", "cProfile", "profile", "pip",
                            "pipx", "idlelib", "asyncio", "doctest", "http.server"});
}

bool pins_script(std::string_view family, words args) {
  if (args.empty()) return false;
  const bool subcommands = is_one_of(family, {"bun", "deno"});
  if (subcommands && args[0].find_first_of("./") == std::string::npos)
    return is_one_of(args[0], {"test", "check", "fmt", "lint", "install", "build"}) ||
           (is_one_of(args[0], {"run", "task"}) && args.size() > 1 && !args[1].starts_with('-'));
  if (args[0] == "-m" && is_one_of(family, {"python", "pypy"}))
    return args.size() > 1 && !args[1].starts_with('-') && !is_running_module(args[1]);
  return !args[0].empty() && !args[0].starts_with('-') && !args[0].starts_with("/dev/") &&
         !args[0].starts_with("/proc/");
}

/// True when `list`, words with a space between them, holds `word`.
bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

/// Programs of many subcommands that are banned without one, and which of them are too broad.
struct subcommand_program {
  std::string_view family;
  std::string_view broad; ///< banned whatever follows; words with a space between them
  /// Banned unless the word after it pins what runs (a script, a remote).
  std::string_view needs_target;
};

const subcommand_program* find_subcommand_program(std::string_view family) {
  static constexpr subcommand_program programs[] = {
      {"git",
       "rebase bisect submodule difftool mergetool filter-branch config clone "
       "ls-remote archive daemon send-email grep alias filter-repo reset clean "
       "rm checkout restore worktree remote",
       "push fetch pull"},
      {"npm", "exec x install i add update init create explore config set publish",
       "run run-script"},
      {"pnpm", "exec dlx install i add update create config publish", "run"},
      {"yarn", "exec dlx add create config publish node", "run"},
      {"uv", "add pip tool python publish", "run"},
      {"poetry", "add config publish", "run"},
      {"pipenv", "install", "run"},
      {"pdm", "add config", "run"},
      {"hatch", "", "run"},
      {"bundle", "add config install", "exec"},
      {"cargo", "install publish", ""},
      {"go", "run install get generate env tool", ""},
      {"pip", "install download wheel config", ""},
      {"gem", "install exec", ""},
      {"brew", "install", ""},
      {"apt", "install", ""},
      {"apt-get", "install", ""},
      {"dnf", "install", ""},
      {"docker",
       "run exec compose build buildx create cp import load plugin context "
       "container",
       ""},
      {"podman", "run exec build create cp import load container", ""},
      {"kubectl", "exec run cp apply delete debug config plugin", ""},
      {"helm", "install upgrade plugin", ""},
      {"gh", "api alias extension codespace", ""},
      {"aws", "", ""},
      {"gcloud", "", ""},
      {"az", "", ""},
      {"terraform", "apply console destroy", ""},
      {"tofu", "apply console destroy", ""},
      {"mvn", "exec:exec exec:java", ""},
      {"gradle", "", ""},
      {"cmake", "", ""},
  };
  const auto found = std::ranges::find(programs, family, &subcommand_program::family);
  return found == std::end(programs) ? nullptr : found;
}

bool is_broad_subcommand(const subcommand_program& program, words args) {
  if (args.empty() || (args[0].starts_with('-') && args[0] != "--build")) return true;
  if (lists(program.broad, args[0])) return true;
  if (!lists(program.needs_target, args[0])) return false;
  if (args.size() < 2 || args[1].empty() || args[1].starts_with('-')) return true;
  // A remote that is a path or a URL may name a program of this machine; `uv run` runs its words.
  if (program.family == "git" && is_one_of(args[0], {"push", "fetch", "pull"}))
    return args[1].find_first_of(":/.") != std::string::npos;
  if (is_one_of(program.family, {"uv", "poetry", "pipenv", "pdm", "hatch", "bundle"}))
    return is_banned_prefix(args.subspan(1));
  return false;
}

/// They run what their words name, with or without a subcommand (`ip netns exec`).
bool is_runner(std::string_view family, words args) {
  if (shell::find_wrapper(family) != nullptr) return true;
  if (find_subcommand_program(family) != nullptr) return false;
  if (family == "ip") return args.empty() || is_one_of(args[0], {"netns", "vrf", "-b", "-batch"});
  if (args.empty()) return false;
  const auto spelled = std::string{family} + " " + args[0];
  return shell::find_wrapper(spelled) != nullptr;
}

/// What they do is said by their words and by files that the user owns: they start no other program
/// and no code of the folder at hand. Everything else may.
bool does_only_what_it_says(std::string_view family, words args) {
  if (changes_every_operand(family)) return true;
  if (is_one_of(family, {"arch",      "base32", "base64",  "basename",  "cal",         "cat",
                         "cksum",     "cmp",    "column",  "comm",      "cut",         "date",
                         "df",        "diff",   "dig",     "dirname",   "du",          "echo",
                         "egrep",     "expand", "expr",    "factor",    "false",       "fgrep",
                         "file",      "fmt",    "fold",    "free",      "getent",      "grep",
                         "groups",    "head",   "hexdump", "host",      "hostname",    "id",
                         "join",      "jq",     "locale",  "ls",        "lsb_release", "lsblk",
                         "lscpu",     "lsof",   "md5sum",  "mkdir",     "nl",          "nproc",
                         "nslookup",  "numfmt", "od",      "paste",     "pgrep",       "ping",
                         "printenv",  "printf", "ps",      "pwd",       "readlink",    "realpath",
                         "rev",       "seq",    "sha1sum", "sha224sum", "sha256sum",   "sha384sum",
                         "sha512sum", "sleep",  "ss",      "stat",      "strings",     "sum",
                         "tac",       "tail",   "touch",   "tr",        "traceroute",  "tree",
                         "true",      "tty",    "uname",   "unexpand",  "uniq",        "uptime",
                         "users",     "vmstat", "w",       "wc",        "whereis",     "which",
                         "who",       "whoami", "yes"}))
    return true;
  // Clients of a service: what they start is started elsewhere.
  if (args.empty()) return false;
  if (is_one_of(family, {"docker", "podman"}))
    return is_one_of(args[0], {"ps", "images", "logs", "inspect", "info", "version", "stop",
                               "start", "restart", "kill", "rm", "rmi", "pull", "top", "stats"});
  if (family == "kubectl")
    return is_one_of(args[0], {"get", "describe", "logs", "top", "version", "api-resources",
                               "cluster-info", "explain"});
  return family == "gh" &&
         is_one_of(args[0], {"issue", "release", "search", "label", "secret", "variable", "gist",
                             "run", "workflow", "cache", "org", "ruleset", "status"});
}

bool lacks_narrow_operands(std::string_view family, words args) {
  auto named = operands(args);
  if (is_one_of(family, {"chmod", "chown", "chgrp"}) && !named.empty()) named.erase(named.begin());
  return named.empty() || std::ranges::any_of(named, is_broad_path);
}

} // namespace

bool is_banned_prefix(words prefix) {
  if (prefix.empty() || prefix[0].empty()) return true;
  const auto family = family_of(prefix[0]);
  const auto args = prefix.subspan(1);
  if (family.empty() || runs_anything(family) || is_runner(family, args)) return true;
  if (acts_inside_shell(prefix) || (family == "printf" && args.empty())) return true;
  command_segment segment;
  segment.argv.assign(prefix.begin(), prefix.end());
  if (const auto found = find_danger(segment); found && found->kind == danger_kind::other)
    return true;
  if (is_interpreter(family)) return !pins_script(family, args);
  if (const auto* program = find_subcommand_program(family))
    return is_broad_subcommand(*program, args);
  return acts_on_operands(family) && lacks_narrow_operands(family, args);
}

bool needs_exact_rule(words prefix) {
  return !prefix.empty() && changes_every_operand(family_of(prefix[0]));
}

bool keeps_sandbox(words prefix) {
  return prefix.empty() || !does_only_what_it_says(family_of(prefix[0]), prefix.subspan(1));
}

bool is_presentable_prefix(words argv) {
  constexpr std::size_t max_bytes = 512;
  std::size_t bytes = 0;
  for (const auto& word : argv) {
    bytes += word.size() + 1;
    if (std::ranges::any_of(
            word, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
      return false;
  }
  return bytes <= max_bytes;
}

} // namespace gatehouse::policy
