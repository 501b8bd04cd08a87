#include "policy/command_words.hpp"
#include "policy/shell/analyzer.hpp"
#include "policy/shell/characters.hpp"
#include "policy/shell/special_commands.hpp"

#include <algorithm>
#include <array>

/// Programs that other languages start: `python3 -c`, `perl -e`, `awk`.
namespace gatehouse::policy::shell {
namespace {

struct language {
  std::string_view family;  ///< base name without version
  std::string_view shorts;  ///< options whose value is code
  std::string_view longs{}; ///< the same, long ones
  bool backticks = false;   ///< `…` runs a command
};
constexpr auto languages = std::to_array<language>({
    {"bun", "ep", "eval print"},
    {"clojure", "e", "eval"},
    {"deno", ""},
    {"elixir", "e", "eval"},
    {"emacs", "", "eval execute"},
    {"erl", "", "eval"},
    {"ghc", "e"},
    {"groovy", "e"},
    {"guile", "c"},
    {"julia", "eE", "eval print", true},
    {"lua", "e"},
    {"luajit", "e"},
    {"node", "ep", "eval print"},
    {"nodejs", "ep", "eval print"},
    {"octave", "", "eval"},
    {"osascript", "e"},
    {"perl", "eE", "", true},
    {"php", "rBRE", "run", true},
    {"pypy", "c"},
    {"python", "c"},
    {"R", "e"},
    {"racket", "e", "eval"},
    {"raku", "e", "", true},
    {"Rscript", "e"},
    {"ruby", "e", "", true},
    {"sbcl", "", "eval"},
    {"scala", "e"},
});

const language* find_language(std::string_view name) {
  while (!name.empty() && (is_digit(name.back()) || name.back() == '.'))
    name.remove_suffix(1);
  const auto* found = std::find_if(languages.begin(), languages.end(),
                                   [&](const language& l) { return l.family == name; });
  return found == languages.end() ? nullptr : found;
}

/// `bun run x`: the word is no file of code.
bool names_subcommand(std::string_view family, std::string_view word) {
  return (family == "bun" || family == "deno") &&
         word.find_first_of("./") == std::string_view::npos;
}

bool is_awk(std::string_view name) {
  return name == "awk" || name == "gawk" || name == "mawk" || name == "nawk" ||
         name == "original-awk";
}

/// Names by which languages start programs. Sorted.
constexpr std::array<std::string_view, 48> starting_names = {
    "Deno",      "Open3",      "Popen",           "check_call",  "check_output", "child_process",
    "exec",      "execFile",   "execFileSync",    "execSync",    "execl",        "execle",
    "execlp",    "execlpe",    "execv",           "execve",      "execvp",       "execvpe",
    "fork",      "getoutput",  "getstatusoutput", "open3",       "passthru",     "pcntl_exec",
    "popen",     "popen2",     "popen3",          "posix_spawn", "posix_spawnp", "proc_open",
    "pty",       "qx",         "run_command",     "shell",       "shell_exec",   "shellout",
    "spawn",     "spawnSync",  "spawnl",          "spawnlp",     "spawnv",       "spawnvp",
    "startfile", "subprocess", "syscall",         "system",      "system2",      "wordexp"};

bool is_starting_name(std::string_view name) {
  return std::binary_search(starting_names.begin(), starting_names.end(), name);
}

/// The same of Lisps, where a hyphen is a part of a name.
constexpr std::array<std::string_view, 8> starting_lisp_names = {
    "call-process", "make-process",  "process-file",       "process-lines",
    "run-program",  "shell-command", "start-file-process", "start-process"};

/// True when `code` names something that starts programs.
bool starts_programs(std::string_view code, bool backticks) {
  if (code.find('-') != std::string_view::npos &&
      std::ranges::any_of(starting_lisp_names,
                          [&](auto name) { return code.find(name) != std::string_view::npos; }))
    return true;
  if (backticks && code.find('`') != std::string_view::npos) return true;
  for (std::size_t at = 0; at < code.size();) {
    if (!is_name_start(code[at])) {
      // awk: print | "command"; "command" | getline. ruby: %x(…). perl: open(F, "command|").
      const bool pipe = code[at] == '|' && (at == 0 || code[at - 1] != '|');
      auto after = std::min(code.find_first_not_of(" \t&", at + 1), code.size());
      if (pipe && after < code.size() &&
          (code[after] == '"' || code.substr(after).starts_with("getline")))
        return true;
      if (pipe && at > 0 && (code[at - 1] == '"' || code[at - 1] == '\'')) return true;
      if (pipe && (code.substr(at + 1, 1) == "\"" || code.substr(at + 1, 1) == "'")) return true;
      if (code.substr(at, 2) == "%x") return true;
      ++at;
      continue;
    }
    auto end = at;
    while (end < code.size() && is_name_part(code[end]))
      ++end;
    const auto name = code.substr(at, end - at);
    if (is_starting_name(name)) return true;
    if (name == "execute" && code.substr(0, at).ends_with("os.")) return true; // lua
    at = end;
  }
  return false;
}

constexpr std::size_t most_literals = 2048;

struct literal {
  std::string text;
  std::size_t begin = 0; ///< of the quote
  std::size_t end = 0;   ///< behind the closing quote
};

/// The string literals of most languages, escapes of quotes and line ends undone.
std::vector<literal> string_literals(std::string_view code, bool backticks) {
  constexpr std::size_t most = most_literals;
  std::vector<literal> found;
  for (std::size_t at = 0; at < code.size() && found.size() < most; ++at) {
    const char quote = code[at];
    if (quote != '"' && quote != '\'' && !(quote == '`' && backticks)) continue;
    auto name = at; // `don't` is no string; r'…' and f"…" are
    while (name > 0 && is_name_part(code[name - 1]))
      --name;
    if (quote == '\'' && at - name > 2) continue;
    const std::string_view triple = code.substr(at, 3);
    const bool long_form = triple.size() == 3 && triple[1] == quote && triple[2] == quote;
    literal one;
    one.begin = at;
    std::size_t i = at + (long_form ? 3 : 1);
    for (; i < code.size(); ++i) {
      if (code[i] == '\\' && i + 1 < code.size()) {
        const char next = code[++i];
        one.text += next == 'n' ? '\n' : next == 't' ? '\t' : next;
        continue;
      }
      if (long_form ? code.substr(i, 3) == triple : code[i] == quote) break;
      one.text += code[i];
    }
    at = one.end = std::min(i + (long_form ? 2 : 0), code.size());
    found.push_back(std::move(one));
  }
  return found;
}

/// Options by which an interpreter goes on with what is typed to it.
bool is_dialogue_option(std::string_view family, std::string_view option) {
  if (family == "php") return option == "-a";
  if (family == "perl") return option.starts_with("-d");
  if (family == "python" || family == "pypy")
    return option.size() > 1 && option[0] == '-' && option[1] != '-' &&
           option.find_first_not_of("bBdEiIOPqsSuv", 1) == std::string_view::npos &&
           option.find('i') != std::string_view::npos;
  return lists_word("julia lua luajit node nodejs racket", family) &&
         lists_word("-i --interactive", option);
}

/// A guess, and a generous one.
bool may_write_files(std::string_view code) {
  constexpr std::array<std::string_view, 9> signs = {"write", "'w",   "\"w",    "'a'", "\"a\"",
                                                     ">",     "copy", "rename", "link"};
  return std::ranges::any_of(
      signs, [&](std::string_view sign) { return code.find(sign) != std::string_view::npos; });
}

bool only_separates(std::string_view between) {
  return between.size() > 1 && between.find_first_not_of("'\"`, \t\n[]") == std::string_view::npos;
}

} // namespace

void analyzer::code(const word& text, std::string_view of, const context& at, bool backticks) {
  if (!text.known)
    unreadable("the program given to `" + std::string(of) + "` is only known when it runs");
  note_code_writes(text);
  if (!starts_programs(text.text, backticks)) return;
  unreadable("the program given to `" + std::string(of) + "` starts other programs");
  const auto literals = string_literals(text.text, backticks);
  if (literals.size() >= most_literals)
    must_ask("the program given to `" + std::string(of) + "` is too large to be read");
  std::vector<word> list; // ['rm', '-f', 'x']
  const auto run_list = [&] {
    if (list.size() > 1) inner_command(list, true, of, at);
    list.clear();
  };
  for (std::size_t i = 0; i < literals.size(); ++i) {
    word one{.text = literals[i].text};
    one.known = one.text.find(unknown_part) == std::string::npos;
    const auto gap = i == 0 ? std::string_view{}
                            : std::string_view{text.text}.substr(
                                  literals[i - 1].end, literals[i].begin - literals[i - 1].end);
    if (i > 0 && !only_separates(gap)) run_list();
    list.push_back(one);
    // perl: open(F, "command|")
    if (one.text.starts_with('|')) one.text.erase(0, 1);
    if (one.text.ends_with('|')) one.text.pop_back();
    script_word(one, of, at);
  }
  run_list();
}

/// Files that the program may fill; with what is only known when it runs.
void analyzer::note_code_writes(const word& code) {
  constexpr std::size_t longest_name = 255;
  constexpr std::size_t most = 64;
  if (!may_write_files(code.text)) return;
  std::size_t left = most;
  for (const auto& one : string_literals(code.text, false)) {
    const auto name = base_name(one.text);
    if (name.empty() || name.size() > longest_name || name.find_first_of(" \t\n") != name.npos)
      continue;
    if (left-- == 0) return;
    writes_.push_back({std::string{name}, {.known = false}, {}});
  }
}

void analyzer::embedded_code(words all, const context& at) {
  const auto name = base_name(all.front().text);
  if (name == "sed" || name == "gsed") return sed_program(all, at);
  if (is_awk(name)) return awk_program(all, at);
  const auto* language = find_language(name);
  if (language == nullptr) return;
  bool has_code = false;
  bool from_input = true;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (auto value = option_value(all, i, language->shorts, language->longs)) {
      code(*value, name, at, language->backticks);
      has_code = true;
    } else if (all[i].text == "-") {
      break;
    } else if (!all[i].text.starts_with('-')) {
      from_input = false;
      if (language->family == "deno" && all[i].text == "eval") continue;
      if (language->family == "deno") code(all[i], name, at, false);
      if (!has_code && !names_subcommand(language->family, all[i].text))
        runs_file(text_kind::code, all.subspan(i), name, at, language->backticks);
      break;
    }
  }
  const auto stays = [&](const word& w) { return is_dialogue_option(language->family, w.text); };
  if (std::any_of(all.begin() + 1, all.end(), stays)) takes_commands(name, at);
  if (has_code || !from_input) return;
  runs_input_file(text_kind::code, name, at, language->backticks);
  if (const auto input = input_text(at)) return code(*input, name, at, language->backticks);
  const auto only_tells = [](const word& w) {
    return lists_word("--version --help -v -V -h", w.text);
  };
  if (std::none_of(all.begin() + 1, all.end(), only_tells)) takes_commands(name, at);
}

void analyzer::awk_program(words all, const context& at) {
  bool has_program = false;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::string_view text = all[i].text;
    if (auto program = option_value(all, i, "e", "source")) {
      code(*program, "awk", at, false);
      has_program = true;
    } else if (text == "-f" || text == "--file" || text.starts_with("-f")) {
      has_program = true;
      if (const auto file = option_value(all, i, "f", "file"))
        runs_file(text_kind::code, {&*file, 1}, "awk", at);
    } else if (text == "-F" || text == "-v" || text == "-i") {
      ++i;
    } else if (text == "--" || !text.starts_with('-')) {
      if (text == "--") ++i;
      if (!has_program && i < all.size()) code(all[i], "awk", at, false);
      return;
    }
  }
}

} // namespace gatehouse::policy::shell
