#include "policy/shell/special_commands.hpp"

#include "policy/command_words.hpp"
#include "policy/shell/analyzer.hpp"
#include "policy/shell/characters.hpp"
#include "policy/shell/powershell.hpp"

#include <algorithm>
#include <array>

namespace gatehouse::policy::shell {
namespace {

// Sorted.
constexpr std::array<std::string_view, 22> shells = {
    "ash", "bash", "csh",   "dash", "elvish", "fish", "hush", "ksh",  "ksh93", "lksh", "mksh",
    "nu",  "osh",  "pdksh", "posh", "rbash",  "rc",   "sh",   "tcsh", "xonsh", "yash", "zsh"};

/// Those whose options are not known here.
constexpr std::string_view other_shells = "elvish fish nu osh rc xonsh yash";

/// Builtins whose arguments may be array subscripts, which bash evaluates: `test -v 'a[$(x)]'`.
constexpr std::array<std::string_view, 15> subscript_users = {
    "[",    "declare",   "export",   "getopts", "let",     "local", "mapfile", "printf",
    "read", "readarray", "readonly", "test",    "typeset", "unset", "wait"};

/// Programs whose words may all be options: what they run is typed to them.
bool starts_dialogue(std::string_view name, std::span<const word> all) {
  if (all.size() > 1 && (all[1].text == "--version" || all[1].text == "--help")) return false;
  if (lists_word("bpython ghci iex info ipython ipython3 irb jshell man ptpython utop", name))
    return true;
  return std::none_of(all.begin() + 1, all.end(),
                      [](const word& w) { return !w.text.starts_with('-'); }) &&
         lists_word(
             "byobu clisp cmd cmd.exe dc gst newgrp ocaml powershell prolog pwsh screen swipl "
             "tmate tmux zellij",
             name);
}

/// `/dev/fd/3`: another descriptor than the standard input.
bool is_other_descriptor(std::string_view path) {
  return path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

} // namespace

word unknown_words() {
  word w;
  w.text = unknown_part;
  w.known = false;
  w.may_vanish = true;
  return w;
}

void put_unknown(word& w, std::string_view placeholder) {
  for (auto at = w.text.find(placeholder); at != std::string::npos;
       at = w.text.find(placeholder, at + unknown_part.size()))
    w.text.replace(at, placeholder.size(), unknown_part);
  w.known = false;
}

bool is_input_path(std::string_view path) noexcept {
  return path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0";
}

bool is_like_bash(std::string_view name) noexcept {
  return name == "bash" || name == "rbash" || name == "zsh" ||
         name.find("ksh") != std::string_view::npos;
}

bool is_shell_name(std::string_view name) noexcept {
  return std::binary_search(shells.begin(), shells.end(), name);
}

void analyzer::unwrap(words all, const context& at) {
  auto name = base_name(all.front().text);
  if (is_shell_name(name)) return shell(all, at);
  changes_folder(all);
  if (name == "eval")
    return joined_script(all.subspan(all.size() > 1 && all[1].text == "--" ? 2 : 1), "eval", at);
  if (name == "trap") {
    std::size_t first = 1;
    if (first < all.size() && all[first].text == "--") ++first;
    if (first < all.size() && !(first == 1 && all[first].text.starts_with('-')))
      script_word(all[first], "trap", at);
    return;
  }
  if (name == "alias") {
    for (const auto& definition : all.subspan(1))
      if (const auto equals = definition.text.find('='); equals != std::string::npos) {
        auto value = definition;
        value.text.erase(0, equals + 1);
        script_word(value, "alias", at);
        if (value.known) renames_[definition.text.substr(0, equals)] = split_env_string(value.text);
      }
    return;
  }
  if ((name == "source" || name == ".") && all.size() > 1) {
    auto operands = all.subspan(all[1].text == "--" && all.size() > 2 ? 2 : 1);
    if (is_input_path(operands.front().text)) return input_script(name, at);
    if (operands.front().is_process) return process_script(operands.front(), name, at);
    if (!is_other_descriptor(operands.front().text))
      return runs_file(text_kind::shell, operands, name, at);
    if (at.found == nullptr || at.found->other_input.from != input_source::kind::text)
      return unreadable("the script of `" + std::string(name) + "` is only known when it runs");
    word text{.text = at.found->other_input.text, .is_cut = at.found->other_input.is_cut};
    text.known = text.text.find(unknown_part) == std::string::npos;
    return script_word(text, name, at);
  }
  if (name == "hash" && all.size() > 3 && all[1].text == "-p") {
    renames_[all[3].text] = {all[2]};
    return;
  }
  if (name == "jobs") {
    for (std::size_t i = 1; i < all.size(); ++i)
      if (all[i].text.starts_with('-') && all[i].text.ends_with('x'))
        return inner_command(all.subspan(i + 1), true, name, at);
    return;
  }
  if (name == "compgen" || name == "complete") {
    for (const auto& w : all.subspan(1)) {
      if (w.text.find_first_of("$`") == std::string::npos || !deeper(at)) continue;
      context inner;
      inner.depth = at.depth + 1;
      inner.outer = &at;
      commands_of(read_expansions(w.text, variables_), inner);
    }
  }
  if ((name == "mapfile" || name == "readarray")) {
    for (std::size_t i = 1; i < all.size(); ++i)
      if (const auto letter = all[i].text.find('C');
          all[i].text.starts_with('-') && letter != std::string::npos) {
        auto callback = all[i];
        callback.text.erase(0, letter + 1);
        if (callback.text.empty() && i + 1 < all.size()) callback = all[i + 1];
        script_word(callback, name, at);
      }
  }
  if (name == "history" && all.size() > 2 && all[1].text == "-s")
    return joined_script(all.subspan(2), name, at); // until `fc -s` runs it
  if (name == "fc" && all.size() > 1 && all[1].text.starts_with("-s"))
    unreadable("`fc` runs what the history holds");
  if (starts_dialogue(name, all)) takes_commands(name, at);
  if (name == "git") return git_commands(all, at);
  for (const auto& w : all.subspan(1))
    note_renaming(w.text);
  if (std::find(subscript_users.begin(), subscript_users.end(), name) != subscript_users.end())
    return hidden_expansions(all, at);
  if (name == "find" || name == "gfind" || name == "bfs") return find_actions(all, at);
  if (name == "fd" || name == "fdfind") return fd_actions(all, at);
  if (name == "ssh" || name == "slogin" || name == "rsh") return remote_shell(all, at);
  if (name == "at" || name == "batch") return input_script(name, at);
  if (name == "parallel" || name.starts_with("env_parallel")) return parallel(all, at);
  if (name == "docker" || name == "podman" || name == "nerdctl" || name == "docker-compose" ||
      name == "podman-compose")
    return container(all, at);
  if (is_powershell_name(name)) return powershell(all, at);
  embedded_commands(all, at);
  // `npm exec`, `perf stat`: the subcommand is what runs another program.
  constexpr std::size_t max_globals = 16;
  for (std::size_t i = 1; i < std::min(all.size(), max_globals); ++i)
    if (const auto* grammar = find_wrapper(std::string(name) + " " + all[i].text))
      return wrapper(*grammar, all.subspan(i), at);
  if (name == "sem") return parallel(all, at);
  if (name.starts_with("ld-linux") || name.starts_with("ld-musl")) name = "ld.so";
  if (name == "gtimeout" || name == "genv" || name == "gnice" || name == "gnohup" ||
      name == "gxargs" || name == "gstdbuf" || name == "gtime")
    name.remove_prefix(1);
  if (const auto* grammar = find_wrapper(name)) wrapper(*grammar, all, at);
}

void analyzer::shell(words all, const context& caller) {
  const auto name = base_name(all.front().text);
  context at = caller;
  at.any_shell = !is_like_bash(name);
  at.grammar = grammar_of(name);
  const bool is_korn = name.find("ksh") != std::string_view::npos;
  bool runs_string = false;
  bool reads_input = false;
  std::size_t i = 1;
  for (; i < all.size(); ++i) {
    const std::string_view text = all[i].text;
    if (all[i].may_vanish) {
      unreadable("the options of `" + std::string(name) + "` are not understood");
      continue;
    }
    if (text == "--" || text == "-") {
      ++i;
      break;
    }
    if (text.starts_with("--")) {
      if (text == "--version" || text == "--help") return;
      if (text.starts_with("--command=") || text.starts_with("--init-command=")) {
        auto value = all[i];
        value.text.erase(0, text.find('=') + 1);
        script_word(value, name, at);
        reads_input = false;
        runs_string = false;
      } else if (text == "--command" || text == "--init-command") {
        if (++i < all.size()) script_word(all[i], name, at);
      } else if (text == "--rcfile" || text == "--init-file") {
        if (++i >= all.size()) break;
        if (all[i].is_process) process_script(all[i], name, at);
        runs_file(text_kind::shell, all.subspan(i, 1), name, at);
      } else if (text == "--emulate") { // of zsh
        ++i;
      }
      continue;
    }
    if (name == "fish" || name == "nu")
      if (const auto value = option_value(all, i, name == "fish" ? "C" : "e", "execute")) {
        script_word(*value, name, at);
        continue;
      }
    if (text.size() < 2 || (text[0] != '-' && text[0] != '+')) {
      // What stands behind an option of such a shell may be its value, and a script may follow.
      if (!runs_string && i > 1 && all[i - 1].text.starts_with('-') &&
          lists_word(other_shells, name))
        continue;
      break;
    }
    for (const char letter : text.substr(1)) {
      runs_string = runs_string || (letter == 'c' && text[0] == '-');
      reads_input = reads_input || letter == 's';
      // Its value is the next word.
      if (letter == 'o' || letter == 'O' || (is_korn && (letter == 'R' || letter == 'T'))) ++i;
    }
  }
  const auto rest = all.subspan(std::min(i, all.size()));
  if (runs_string) {
    if (rest.empty()) return;
    variable_values inner = variables_;
    std::string every; // operands that are unknown are missing in it
    constexpr std::size_t max_operands = 256;
    for (std::size_t k = 1; k < std::min(rest.size(), max_operands); ++k) {
      if (rest[k].text.find(unknown_part) != std::string::npos) continue;
      inner[std::to_string(k - 1)].push_back(rest[k].text);
      if (k > 1) every += (every.empty() ? "" : " ") + rest[k].text;
    }
    if (!every.empty())
      for (const auto* all_operands : {"@", "*"})
        inner[all_operands].push_back(every);
    std::swap(inner, variables_);
    script_word(rest.front(), name, at);
    if (!rest.front().known && rest.front().may_vanish && rest.size() > 1)
      script_word(rest[1], name, at);
    std::swap(inner, variables_);
    return;
  }
  if (rest.empty() || reads_input || is_input_path(rest.front().text))
    return input_script(name, at);
  if (rest.front().is_process) return process_script(rest.front(), name, at);
  if (is_other_descriptor(rest.front().text) && at.found != nullptr &&
      at.found->other_input.from == input_source::kind::text)
    return script_word(word{.text = at.found->other_input.text}, name, at);
  if (!rest.front().known || rest.front().text.starts_with("/dev/") ||
      rest.front().text.starts_with("/proc/"))
    unreadable("the script of `" + std::string(name) + "` is only known when it runs");
  runs_file(text_kind::shell, rest, name, at);
}

/// What a process substitution prints.
word analyzer::process_text(const word& process, const context& at) {
  word text;
  text.is_cut = process.process.end - process.process.begin > max_writers;
  if (at.reading != nullptr)
    text.text = printed_text(*at.reading, process.process, text.known);
  else
    text.known = false;
  return text;
}

void analyzer::process_script(const word& process, std::string_view of, const context& at) {
  script_word(process_text(process, at), of, at);
}

/// What a program reads from its input, as far as it is known; nothing when it inherits ours.
std::optional<word> analyzer::input_text(const context& at) const {
  const auto* from = &at;
  while (from != nullptr &&
         (from->found == nullptr || from->found->input.from == input_source::kind::inherited))
    from = from->outer;
  if (from == nullptr) return std::nullopt;
  const auto& input = from->found->input;
  word text;
  if (input.from == input_source::kind::text) {
    text.text = input.text;
    text.is_cut = input.is_cut;
    text.known = input.text.find(unknown_part) == std::string::npos;
  } else if (input.from == input_source::kind::pipe && from->reading != nullptr) {
    text.is_cut = input.writers.end - input.writers.begin > max_writers;
    text.text = printed_text(*from->reading, input.writers, text.known);
  } else {
    text.known = false;
  }
  return text;
}

/// Nothing of the command is its input, so that it comes from whoever holds the other end.
void analyzer::takes_commands(std::string_view of, const context& at) {
  if (out_.takes_commands.empty() && !input_text(at)) out_.takes_commands = of;
}

/// The program reads its script from its input.
void analyzer::input_script(std::string_view of, const context& at) {
  takes_commands(of, at);
  runs_input_file(text_kind::shell, of, at);
  if (const auto text = input_text(at)) script_word(*text, of, at);
}

void analyzer::hidden_expansions(words all, const context& at) {
  std::vector<std::string> assignments; // `export PAGER=…`
  for (const auto& w : all.subspan(1))
    if (w.known && !assigned_name(w.text).empty()) assignments.push_back(w.text);
  assigned_scripts(assignments, at);
  for (const auto& w : all.subspan(1)) {
    if (w.text.find('[') == std::string::npos || w.text.find_first_of("$`") == std::string::npos)
      continue;
    if (!deeper(at)) return;
    context inner;
    inner.depth = at.depth + 1;
    inner.outer = &at;
    commands_of(read_expansions(w.text, variables_), inner);
  }
}

} // namespace gatehouse::policy::shell
