#include "policy/shell/analyzer.hpp"
#include "policy/shell/characters.hpp"
#include "policy/shell/special_commands.hpp"

#include <algorithm>
#include <array>

/// What a text of another language starts.
namespace gatehouse::policy::shell {
namespace {

/// Names by which languages start programs. Sorted.
constexpr std::array<std::string_view, 51> starting_names = {
    "Deno",       "Open3",    "Popen",     "check_call",      "check_output", "child_process",
    "esyscmd",    "exec",     "execFile",  "execFileSync",    "execSync",     "execl",
    "execle",     "execlp",   "execlpe",   "execv",           "execve",       "execvp",
    "execvpe",    "fork",     "getoutput", "getstatusoutput", "open3",        "passthru",
    "pcntl_exec", "popen",    "popen2",    "popen3",          "posix_spawn",  "posix_spawnp",
    "proc_open",  "pty",      "qx",        "run_command",     "sh",           "shell",
    "shell_exec", "shellout", "spawn",     "spawnSync",       "spawnl",       "spawnlp",
    "spawnv",     "spawnvp",  "startfile", "subprocess",      "syscall",      "syscmd",
    "system",     "system2",  "wordexp"};

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
      if (code.substr(at, 2) == "%x" || code.substr(at, 3) == "\".!") return true; // ruby, scala
      ++at;
      continue;
    }
    auto end = at;
    while (end < code.size() && is_name_part(code[end]))
      ++end;
    const auto name = code.substr(at, end - at);
    if (is_starting_name(name)) return true;
    const auto before = code.substr(0, at);
    if (name == "execute" && (before.ends_with("os.") || before.ends_with("\".") || // lua, groovy
                              before.ends_with("'.")))
      return true;
    if (name == "command" && before.ends_with("Sys.")) return true;                // ocaml
    if (name == "cmd" && (before.ends_with("os:") || before.ends_with("System."))) // erlang, elixir
      return true;
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
  note_imports(text, at);
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

/// Modules that the program loads.
void analyzer::note_imports(const word& code, const context& at) {
  constexpr std::size_t most = 64;
  std::size_t left = most;
  const std::string_view text = code.text;
  for (const std::string_view keyword : {"import", "from", "require", "use", "load", "dofile"})
    for (auto found = text.find(keyword); found != std::string_view::npos && left > 0;
         found = text.find(keyword, found + 1)) {
      const auto begin = text.find_first_not_of(" \t(\"'`./", found + keyword.size());
      if (begin == std::string_view::npos || begin == found + keyword.size()) continue;
      auto end = begin;
      while (end < text.size() && (is_name_part(text[end]) || text[end] == '.' ||
                                   text[end] == '/' || text[end] == ':' || text[end] == '-'))
        ++end;
      --left;
      if (end > begin)
        loads_code(word{.text = std::string(text.substr(begin, end - begin))}, "import", at);
    }
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

} // namespace gatehouse::policy::shell
