#include "policy/command_words.hpp"
#include "policy/shell/analyzer.hpp"
#include "policy/shell/characters.hpp"
#include "policy/shell/special_commands.hpp"
#include "protocol/ascii_text.hpp"

#include <algorithm>
#include <array>

/// Commands that stand in an option of a program, or in a text of its own language that can start
/// programs.
namespace gatehouse::policy::shell {
namespace {

/// True when a long option of `list` is `given` or is abbreviated by it.
bool abbreviates_one(std::string_view list, std::string_view given) {
  constexpr std::size_t shortest = 2;
  for (std::size_t at = 0; at < list.size();) {
    const auto end = std::min(list.find(' ', at), list.size());
    const auto name = list.substr(at, end - at);
    if (name == given || (given.size() >= shortest && name.starts_with(given))) return true;
    at = end + 1;
  }
  return false;
}

/// Options whose value is a command or a program.
struct command_options {
  std::string_view programs; ///< base names
  std::string_view shorts;   ///< letters; the value is attached or the next word
  std::string_view longs;    ///< with one dash or two
};
constexpr auto option_table = std::to_array<command_options>({
    {"ag bat batcat delta glow", "", "pager"},
    {"ansible", "a", "args"},
    {"apt apt-get aptitude", "o", "option"},
    {"ar nm ranlib objdump ld gcc-ar gcc-nm", "", "plugin"}, // a library is loaded and runs
    {"bazel bazelisk blaze", "", "run_under"},
    {"bind", "x", ""},
    {"bpftrace dtrace", "c", ""},
    {"cargo-watch", "s", "shell"},
    {"cc c++ gcc g++ clang clang++", "", "wrapper fplugin"},
    {"compgen complete", "C", ""},
    {"cpio", "", "rsh-command"},
    {"ctest", "", "test-command build-makeprogram"},
    {"dpkg dpkg-deb", "", "pre-invoke post-invoke"},
    {"fc", "e", ""},
    {"fly flyctl", "C", "command"},
    {"fzf sk", "", "preview"},
    {"gcloud", "", "command"},
    {"go", "", "exec toolexec vettool"},
    {"gpg gpg2 gpgsm gpgconf gpg-agent gpg-connect-agent", "",
     "agent-program dirmngr-program gpg-program keyboxd-program photo-viewer pinentry-program "
     "scdaemon-program tpm2daemon-program"},
    {"hash", "p", ""},
    {"install ginstall", "", "strip-program"},
    {"man", "CPH", "config-file pager html"},
    {"mysql mariadb", "", "pager"},
    {"nc ncat netcat", "ec", "exec sh-exec lua-exec"},
    {"nix-shell", "", "run command"},
    {"nodemon", "x", "exec"},
    {"npm npx", "c", "call script-shell"},
    {"openssl", "", "engine provider provider-path"},
    {"pnpm yarn", "", "script-shell"},
    {"prove", "e", "exec"},
    {"rg ripgrep", "", "pre hostname-bin"},
    {"rsync", "e", "rsh rsync-path"},
    {"scp sftp", "DFSo", ""},
    {"sdiff diff3 colordiff", "", "diff-program"},
    {"sort gsort", "", "compress-program"},
    {"split gsplit", "", "filter"},
    {"start-stop-daemon", "ax", "exec startas"},
    {"tar gtar bsdtar", "IF",
     "use-compress-program to-command checkpoint-action rsh-command rmt-command info-script "
     "new-volume-script"},
    {"tcpdump", "z", ""},
    {"vagrant", "c", "command"},
    {"valgrind", "", "db-command"},
    {"wget wget2", "e", "config execute use-askpass"},
    {"zip", "", "unzip-command TT"},
});

/// Programs that start the words after a `--`.
constexpr std::string_view separated_commands =
    "asdf aws-vault bear cage chamber colima coresched daemon ddev devbox devcontainer distrobox "
    "doppler dotenv gnome-terminal gpg-agent guix heroku incus infisical konsole kubectl lldb lxc "
    "lxc-attach minikube mise multipass nix oc op pipesz py-spy retry schroot script "
    "start-stop-daemon "
    "wait-for-it wezterm xfce4-terminal xinit zellij";

/// Terminals: what follows `-e` or `-x` is a command.
constexpr std::string_view terminals =
    "alacritty foot gnome-terminal kitty konsole lxterminal mate-terminal mlterm qterminal rxvt st "
    "terminator terminology tilix urxvt uxterm x-terminal-emulator xfce4-terminal xterm";

/// Programs whose language runs the rest of a line after a marker.
struct command_markers {
  std::string_view programs;
  std::array<std::string_view, 8> markers;
};
constexpr auto marker_table = std::to_array<command_markers>({
    {"ed ex red vi vim nvim view vimdiff gvim", {"!", "system("}},
    {"dc", {"!"}},
    {"expect tclsh wish", {"spawn ", "exec ", "system "}},
    {"ftp lftp less more most telnet", {"!"}},
    {"gdb lldb", {"!", "shell "}},
    {"gnuplot", {"!", "system(", "system ", "shell ", "\"<", "'<", "\"|", "'|"}},
    {"mysql mariadb", {"\\!", "system ", "\\P ", "pager "}},
    {"psql", {"\\!", "PROGRAM ", "program "}},
    {"sqlite3 sqlite", {".shell ", ".system ", ".sh ", ".sy "}},
});

/// `tar cfI ARCHIVE PROGRAM …`: letters without a dash take the words after them, in their order.
std::vector<word> old_style_programs(std::span<const word> all) {
  std::vector<word> found;
  if (all.size() < 2 || all[1].text.starts_with('-') || !all[1].known) return found;
  std::size_t next = 2;
  for (const char letter : all[1].text) {
    if (std::string_view{"bCfFgHIKLNTVX"}.find(letter) == std::string_view::npos) continue;
    if (next < all.size() && (letter == 'I' || letter == 'F')) found.push_back(all[next]);
    ++next;
  }
  return found;
}

/// What follows the marker on each line that has one.
std::string marked_commands(std::string_view text, const command_markers& known) {
  std::string commands;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = text.substr(at, end - at);
    at = end + 1;
    for (const auto marker : known.markers) {
      const auto found = marker.empty() ? std::string_view::npos : line.find(marker);
      if (found == std::string_view::npos) continue;
      // A word of the language, not the end of another one.
      if (found > 0 && is_name_start(marker.front()) && is_name_part(line[found - 1])) continue;
      auto command = line.substr(found + marker.size());
      if (marker.ends_with("PROGRAM ") || marker.ends_with("program ")) {
        command = command.substr(std::min(command.find_first_not_of(" '"), command.size()));
        command = command.substr(0, command.find('\''));
      } else if (marker.front() == '"' || marker.front() == '\'') { // gnuplot: plot "< COMMAND"
        command = command.substr(0, command.find(marker.front()));
      } else if (marker.ends_with('(')) {
        const auto last = command.find_last_of("'\")");
        command = command.substr(std::min<std::size_t>(1, command.size()),
                                 last == std::string_view::npos || last == 0 ? last : last - 1);
      }
      commands += std::string(command) + "\n";
    }
  }
  return commands;
}

/// True when the program goes on with what is typed to it.
bool is_interactive(std::string_view name, std::span<const word> all) {
  const auto has = [&](std::string_view list) {
    return std::any_of(all.begin() + 1, all.end(), [&](const word& w) {
      return lists_word(list, std::string_view{w.text}.substr(0, w.text.find('=')));
    });
  };
  const auto operands = std::count_if(all.begin() + 1, all.end(),
                                      [](const word& w) { return !w.text.starts_with('-'); });
  if (has("--version --help")) return false;
  if (name == "psql") return !has("-c --command -f --file -l --list");
  if (name == "mysql" || name == "mariadb") return !has("-e --execute");
  if (name == "gdb" || name == "lldb") return !has("-batch --batch");
  if (name.starts_with("sqlite")) return operands < 2;
  if (name == "dc" || name == "gnuplot") return operands == 0 && !has("-e --expression");
  if (name == "expect" || name == "tclsh" || name == "wish") return operands == 0;
  return true;
}

/// Where a client of a database is told to write into a pipe: sqlite's `.output |COMMAND`, psql's
/// `\\o |COMMAND`.
std::string piped_commands(std::string_view text, std::string_view program) {
  const bool sqlite = program.starts_with("sqlite");
  if (!sqlite && program != "psql") return {};
  std::string commands;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    at = end + 1;
    const auto order = sqlite ? line.find_first_not_of(" \t") : line.find('\\');
    if (order == std::string_view::npos || (sqlite && line[order] != '.')) continue;
    const auto pipe = line.find('|', order);
    if (pipe == std::string_view::npos) continue;
    std::string command{line.substr(pipe + 1)};
    std::erase_if(command, [](char c) { return c == '"' || c == '\''; });
    commands += command + "\n";
  }
  return commands;
}

} // namespace

std::optional<word> option_value(std::span<const word> all, std::size_t& i, std::string_view shorts,
                                 std::string_view longs) {
  const std::string_view text = all[i].text;
  if (text.size() < 2 || text[0] != '-') return std::nullopt;
  const auto next = [&]() -> std::optional<word> {
    if (i + 1 >= all.size()) return std::nullopt;
    return all[++i];
  };
  const auto equals = text.find('=');
  const auto name = text.substr(text[1] == '-' ? 2 : 1, equals - (text[1] == '-' ? 2 : 1));
  const bool is_long =
      !name.empty() && (text[1] == '-' ? abbreviates_one(longs, name) : lists_word(longs, name));
  if (is_long) {
    if (equals == std::string_view::npos) return next();
    auto value = all[i];
    value.text.erase(0, equals + 1);
    return value;
  }
  if (text[1] == '-') return std::nullopt;
  for (std::size_t k = 1; k < text.size() && is_name_part(text[k]); ++k) {
    if (shorts.find(text[k]) == std::string_view::npos) continue;
    // `node -pe CODE`: two of them in one cluster share the next word.
    if (text.find_first_not_of(shorts, k + 1) == std::string_view::npos) return next();
    auto value = all[i];
    value.text.erase(0, k + 1);
    return value;
  }
  return std::nullopt;
}

void analyzer::ssh_option(word value, std::string_view of, const context& at) {
  const auto end = value.text.find_first_of("= ");
  const auto key = to_lower_ascii(std::string_view{value.text}.substr(0, end));
  if (end == std::string::npos ||
      (key != "proxycommand" && key != "localcommand" && key != "knownhostscommand"))
    return;
  value.text.erase(0, end + 1);
  script_word(value, of, at);
}

void analyzer::command_option(word value, std::string_view of, const context& at) {
  auto& text = value.text;
  if ((of == "scp" || of == "sftp") && text.find_first_of("= ") != std::string::npos)
    return ssh_option(std::move(value), of, at);
  if (text.starts_with("exec=")) text.erase(0, 5); // tar --checkpoint-action
  if (of.starts_with("apt")) {                     // -o APT::Update::Pre-Invoke::=COMMAND
    if (text.find("nvoke") == std::string::npos) return;
    text.erase(0, text.rfind('=') + 1);
  }
  if (of == "openssl" && text.find('/') == std::string::npos) return;  // a built-in one
  if (of.starts_with("wget") && text.find('=') != std::string::npos) { // -e use_askpass=PROGRAM
    const auto equals = text.find('=');
    std::string key;
    for (const char c : text.substr(0, equals))
      if (is_name_part(c) && c != '_') key += to_lower_ascii(c);
    if (key != "useaskpass") return;
    text.erase(0, equals + 1);
  }
  if (of == "bind") text.erase(0, text.find(':') + 1); // "key": COMMAND
  if (of == "gcc" || of == "cc" || of == "clang") std::replace(text.begin(), text.end(), ',', ' ');
  script_word(value, of, at);
}

void analyzer::embedded_commands(words all, const context& caller) {
  const auto name = base_name(all.front().text);
  context at = caller;
  at.any_shell = true;
  for (const auto& known : option_table) {
    if (!lists_word(known.programs, name)) continue;
    for (std::size_t i = 1, option = 1; i < all.size(); option = ++i)
      if (auto value = option_value(all, i, known.shorts, known.longs)) {
        // `--start --exec P`: the first may be an option of its own, not one that is abbreviated.
        if (value->text.starts_with("--")) i = option;
        command_option(std::move(*value), name, at);
      }
  }
  if (lists_word(separated_commands, name)) {
    const auto dashes = std::find_if(all.begin() + 1, all.end(), [&](const word& w) {
      return w.text == "--" || (name == "nix" && (w.text == "-c" || w.text == "--command"));
    });
    if (dashes != all.end())
      inner_command(all.subspan(static_cast<std::size_t>(dashes - all.begin()) + 1), true, name,
                    at);
  }
  if (name == "nix") nix_run(all, at);
  if (name == "start-stop-daemon") daemon_starter(all, at);
  if (name == "run-parts") unreadable("`run-parts` runs every program of a folder");
  if (name == "cmake") return cmake(all, at);
  if (name == "gpg-agent") {
    const auto daemon =
        std::find_if(all.begin(), all.end(), [](const word& w) { return w.text == "--daemon"; });
    for (auto w = daemon; w != all.end(); ++w)
      if (!w->text.starts_with('-')) inner_command({w, all.end()}, true, name, at);
  }
  if (lists_word(terminals, name)) {
    const auto runs = std::find_if(all.begin() + 1, all.end(), [](const word& w) {
      return w.text == "-e" || w.text == "-x" || w.text == "--command";
    });
    if (runs != all.end())
      return inner_command(all.subspan(static_cast<std::size_t>(runs - all.begin()) + 1), true,
                           name, at);
  }
  if (name == "tar" || name == "gtar" || name == "bsdtar")
    for (const auto& program : old_style_programs(all))
      script_word(program, name, at);
  if (name == "strace" || name == "tcpdump" || name == "psql")
    for (std::size_t i = 1; i < all.size(); ++i)
      if (auto value = option_value(all, i, "o", "output");
          value && (value->text.starts_with('|') || value->text.starts_with('!'))) {
        value->text.erase(0, 1);
        script_word(*value, name, at);
      }
  if (name == "cargo" && all.size() > 2 && all[1].text == "watch")
    for (std::size_t i = 2; i < all.size(); ++i)
      if (const auto value = option_value(all, i, "s", "shell")) script_word(*value, name, at);
  settings_of_builders(all, name, at);
  if (name == "runcon") { // a context, or options that make one
    for (std::size_t first = 1; first < all.size(); ++first)
      if (!all[first].text.starts_with('-')) inner_command(all.subspan(first), true, name, at);
    return;
  }
  if (name == "capsh") {
    const auto dashes =
        std::find_if(all.begin(), all.end(), [](const word& w) { return w.text == "--"; });
    if (dashes == all.end()) return;
    std::vector<word> inner(dashes, all.end());
    inner.front().text = "bash";
    return shell(inner, at);
  }
  if (name == "tmux" || name == "screen" || name == "tmate" || name == "byobu") {
    // Any operand of `new`, `split-window`, `send-keys`, `-X stuff`, … may be a shell command.
    for (const auto& w : all.subspan(1))
      if (!w.text.starts_with('-') && !w.may_vanish) script_word(w, name, at);
    constexpr std::size_t most_starts = 8;
    for (std::size_t i = 1; i + 1 < std::min(all.size(), most_starts); ++i)
      if (!all[i].text.starts_with('-')) inner_command(all.subspan(i), true, name, at);
    return;
  }
  if (name == "socat")
    for (const auto& w : all.subspan(1))
      for (const std::string_view kind : {"EXEC:", "SYSTEM:", "exec:", "system:"})
        if (const auto found = w.text.find(kind); found == 0) {
          auto command = w;
          command.text.erase(0, kind.size());
          script_word(command, name, at);
        }
  if (name == "crontab") return job_table(at);
  if (name == "make" || name == "gmake") return makefile(all, at);
  if (name == "cp" || name == "ln" || name == "mv" || name == "install") return copied(all, at);
  if (name == "sort" || name == "gsort")
    for (std::size_t i = 1; i < all.size(); ++i)
      if (const auto file = option_value(all, i, "o", "output")) changes_text(file->text, at);
  for (const auto& known : marker_table) {
    if (!lists_word(known.programs, name)) continue;
    std::vector<word> texts(all.begin() + 1, all.end());
    if (auto input = input_text(at)) texts.push_back(std::move(*input));
    if (is_interactive(name, all)) takes_commands(name, at);
    for (auto& text : texts) {
      text.text = marked_commands(text.text, known) + piped_commands(text.text, name);
      if (!text.text.empty()) script_word(text, name, at);
    }
  }
  embedded_code(all, at);
}

/// `crontab -`: five fields or `@word`, then a shell command.
void analyzer::job_table(const context& at) {
  auto input = input_text(at);
  if (!input) return;
  std::string commands;
  for (std::string_view rest = input->text; !rest.empty();) {
    auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    for (int fields = line.starts_with('@') ? 1 : 5; fields > 0; --fields) {
      line.remove_prefix(std::min(line.find_first_of(" \t"), line.size()));
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    }
    commands += std::string(line) + "\n";
  }
  input->text = std::move(commands);
  script_word(*input, "crontab", at);
}

/// A copy of a program, or a link to it, runs under any name: as if the program were run.
void analyzer::copied(words all, const context& at) {
  note_copies(all);
  for (const auto& w : all.subspan(1)) {
    const std::string_view text = w.text;
    if (!w.known || (text.find("/bin/") == std::string_view::npos &&
                     text.find("/sbin/") == std::string_view::npos))
      continue;
    const std::array<word, 2> inner{w, unknown_words()};
    inner_command(inner, true, base_name(all.front().text), at);
  }
}

} // namespace gatehouse::policy::shell
