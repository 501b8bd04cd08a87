#include "policy/command_words.hpp"
#include "policy/shell/analyzer.hpp"
#include "policy/shell/characters.hpp"
#include "policy/shell/special_commands.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

/// Programs that run a text of their own language: `python3 -c`, `perl -e`, `awk`.
namespace gatehouse::policy::shell {
namespace {

struct language {
  std::string_view family;  ///< base name without version
  std::string_view shorts;  ///< options whose value is code
  std::string_view longs{}; ///< the same, long ones
  bool backticks = false;   ///< `…` runs a command
  /// Options whose value may be the next word, which is no file of code: letters, then long ones.
  std::string_view values{};
  std::string_view long_values{};
  std::string_view loads{}; ///< letters whose value is a module or a file of code
  std::string_view long_loads{};
};
constexpr std::string_view node_values =
    "conditions diagnostic-dir disable-warning dns-result-order env-file icu-data-dir input-type "
    "max-http-header-size openssl-config redirect-warnings secure-heap stack-trace-limit "
    "test-name-pattern test-reporter title trace-event-categories unhandled-rejections watch-path";
constexpr std::string_view node_loads = "experimental-loader import loader require";
constexpr auto languages = std::to_array<language>({
    {"bun", "ep", "eval print", false, "c", "config cwd", "r", "import preload require"},
    {"clojure", "e", "eval", false, "", "", "im", "init main"},
    {"deno", ""},
    {"elixir", "e", "eval", false, "", "cookie name pa pz sname", "rS", "pr require"},
    {"emacs", "", "eval execute", false, "LTd", "chdir directory display", "l", "load script"},
    {"erl", "", "eval", false, "", "config name pa pz s sname setcookie"},
    {"ghc", "e"},
    {"groovy", "e", "", false, "", "classpath cp"},
    {"gm4", "", "", false, "IULdlos", "", "D", "define"},
    {"guile", "c", "", false, "CLx", "", "l"},
    {"julia", "eE", "eval print", true, "CHJOgpt", "procs project sysimage threads", "L", "load"},
    {"lua", "e", "", false, "", "", "l"},
    {"luajit", "e", "", false, "j", "", "l"},
    {"m4", "", "", false, "IULdlos", "", "D", "define"},
    {"node", "ep", "eval print", false, "C", node_values, "r", node_loads},
    {"nodejs", "ep", "eval print", false, "C", node_values, "r", node_loads},
    {"ocaml", "e"},
    {"octave", "", "eval", false, "p", "image-path path"},
    {"osascript", "e", "", false, "ls"},
    {"perl", "eE", "", true, "I", "", "Mm"},
    {"php", "rBRE", "run", true, "Sctz", "define docroot php-ini server", "fF", "file"},
    {"pypy", "c", "", false, "WX", "check-hash-based-pycs"},
    {"python", "c", "", false, "WX", "check-hash-based-pycs"},
    {"R", "e", "", false, "dg", "debugger gui", "f", "file"},
    {"racket", "e", "eval", false, "IS", "", "flrtu", "load require"},
    {"raku", "e", "", true, "I", "", "M"},
    {"Rscript", "e"},
    {"ruby", "e", "", true, "CEI", "disable enable encoding external-encoding internal-encoding",
     "r"},
    {"sbcl", "", "eval", false, "", "control-stack-size core dynamic-space-size", "",
     "load script"},
    {"scala", "e", "", false, "", "classpath cp"},
});

const language* find_language(std::string_view name) {
  const auto named = [&] { return std::ranges::find(languages, name, &language::family); };
  const auto* found = named();
  while (found == languages.end() && !name.empty() &&
         (is_digit(name.back()) || name.back() == '.')) {
    name.remove_suffix(1);
    found = named();
  }
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

/// True when the word behind the option `text` may be its value; `sure`: it is.
bool may_take_next(const language& of, std::string_view text, bool& sure) {
  sure = false;
  if (text.size() < 2 || text[0] != '-' || text == "--" || text.find('=') != std::string_view::npos)
    return false;
  sure = lists_word(of.long_values, text.substr(text[1] == '-' ? 2 : 1));
  if (text[1] != '-' && !sure) {
    const auto letter = text.find_first_of(of.values, 1);
    sure = letter == text.size() - 1;
  }
  return true;
}

/// Where the module's name begins behind flags of Python: 2 of `-mpdb`, 3 of `-Im`; 0: it names
/// none.
std::size_t module_option(std::string_view text) {
  if (text.size() < 2 || text[0] != '-') return 0;
  const auto at = text.find_first_not_of("bBdEhiIOPqRsStuvVx", 1);
  return at != std::string_view::npos && text[at] == 'm' ? at + 1 : 0;
}

/// Words that may be the file of code: each is kept with all words behind it.
constexpr int most_files = 8;

/// Modules of Python that run what they are given.
constexpr std::string_view code_modules = "timeit";
constexpr std::string_view dialogue_modules = "IPython asyncio code idlelib pdb";
constexpr std::string_view file_modules =
    "IPython cProfile coverage doctest kernprof line_profiler memory_profiler pdb profile "
    "pyinstrument trace";

/// `-Fi` is a separator.
std::optional<word> loaded_by_awk(std::span<const word> all, std::size_t& i) {
  const std::string_view text = all[i].text;
  const bool may_be = text.size() > 1 && text[0] == '-' &&
                      std::string_view{"iEl-"}.find(text[1]) != std::string_view::npos;
  return may_be ? option_value(all, i, "iEl", "exec include load") : std::nullopt;
}

/// `%20` is a blank.
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const auto* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      decoded += static_cast<char>(value);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

} // namespace

/// What is loaded may be code itself: `perl -M'A;CODE'`, `node --import data:TYPE,CODE`.
void analyzer::code_of_module(const word& module, std::string_view of, const context& at,
                              bool backticks) {
  auto text = module;
  if (text.text.starts_with("data:")) {
    const auto comma = std::min(text.text.find(','), text.text.size());
    text.known = text.known && text.text.substr(0, comma).find(";base64") == std::string::npos;
    text.text = percent_decoded(std::string_view{text.text}.substr(comma));
  } else if (text.text.find_first_of(" \t\n;({'\"`|%") == std::string::npos) {
    return;
  }
  code(text, of, at, backticks);
}

/// `python3 -m MODULE …`, which may be `-m pdb -m MODULE …`.
void analyzer::python_module(words module_and_rest, const context& at) {
  bool has_input = false; // one of them reads it
  int files_left = most_files;
  for (auto left = module_and_rest; !left.empty();) {
    const auto& module = left.front();
    left = left.subspan(1);
    loads_code(module, "python", at);
    if (lists_word(dialogue_modules, module.text) && !std::exchange(has_input, true)) {
      takes_commands("python", at);
      if (const auto input = input_text(at)) code(*input, "python", at, false);
    }
    if (module.text == "runpy") continue; // the next word is a module
    if (lists_word(code_modules, module.text))
      for (const auto& w : left)
        code(w, "timeit", at, false);
    if (!lists_word(file_modules, module.text)) return;
    left = run_by_module(left, module.text, files_left, at);
  }
}

/// Options and file of a module that runs another program.
/// @return the module that it runs and what follows; empty: it is a file, or none
analyzer::words analyzer::run_by_module(words all, std::string_view of, int& files_left,
                                        const context& at) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].text == "-m") return all.subspan(i + 1);
    auto order = of == "pdb" ? option_value(all, i, "c", "command") : std::nullopt;
    if (order) code(*order, "pdb", at, false);
    if (order || all[i].text.starts_with('-')) continue;
    if (files_left-- > 0) runs_file(text_kind::code, all.subspan(i), "python", at);
    // What stands behind an option may be its value.
    if (i == 0 || !all[i - 1].text.starts_with('-')) return {};
  }
  return {};
}

void analyzer::embedded_code(words all, const context& at) {
  const auto name = base_name(all.front().text);
  if (name == "sed" || name == "gsed") return sed_program(all, at);
  if (is_awk(name)) return awk_program(all, at);
  const auto* language = find_language(name);
  if (language == nullptr) return;
  const bool python = language->family == "python" || language->family == "pypy";
  bool has_code = false;
  bool from_input = true;
  bool maybe_value = false; // of the option before
  int files_left = most_files;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::string_view text = all[i].text;
    bool is_value = false;
    const bool after_option = std::exchange(maybe_value, may_take_next(*language, text, is_value));
    if (const auto at_module = python ? module_option(text) : 0; at_module > 0) {
      from_input = false;
      std::vector<word> module(all.begin() + static_cast<std::ptrdiff_t>(i), all.end());
      module.front().text.erase(0, at_module);
      if (module.front().text.empty()) module.erase(module.begin());
      if (!module.empty()) python_module(module, at);
      break;
    }
    // What looks like an option is read as one as well.
    const auto at_option = i;
    const bool before_option = i + 1 < all.size() && all[i + 1].text.starts_with('-');
    if (auto value = option_value(all, i, language->shorts, language->longs)) {
      code(*value, name, at, language->backticks);
      has_code = true;
      maybe_value = false;
    } else if (is_value) {
      if (!before_option) ++i;
      maybe_value = false;
    } else if (auto loaded = option_value(all, i, language->loads, language->long_loads)) {
      loads_code(*loaded, name, at, language->backticks);
      code_of_module(*loaded, name, at, language->backticks);
      if (before_option) i = at_option;
      maybe_value = false;
    } else if (text == "-") {
      from_input = from_input || names_subcommand(language->family, text); // `deno run -`
      break;
    } else if (!text.starts_with('-')) {
      from_input = false;
      if (names_subcommand(language->family, text) && lists_word("eval run", text)) continue;
      if (language->family == "deno") code(all[i], name, at, false);
      if (!has_code && !names_subcommand(language->family, text) && files_left-- > 0)
        runs_file(text_kind::code, all.subspan(i), name, at, language->backticks);
      // What stands behind an option that is not known may be its value, and code may follow.
      if (!after_option) break;
    }
  }
  const auto stays = [&](const word& w) { return is_dialogue_option(language->family, w.text); };
  const bool goes_on = std::any_of(all.begin() + 1, all.end(), stays);
  if (goes_on) takes_commands(name, at);
  if ((has_code || !from_input) && !goes_on) return;
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
    } else if (const auto file = loaded_by_awk(all, i)) {
      loads_code(*file, "awk", at);
      has_program = has_program || text.starts_with("-E") || text.starts_with("--exec");
    } else if (text == "-F" || text == "-v" || text == "--assign" || text == "--field-separator") {
      ++i;
    } else if (text == "--" || !text.starts_with('-')) {
      if (text == "--") ++i;
      if (!has_program && i < all.size()) code(all[i], "awk", at, false);
      return;
    }
  }
}

} // namespace gatehouse::policy::shell
