#include "policy/shell/analyzer.hpp"
#include "policy/shell/characters.hpp"
#include "policy/shell/special_commands.hpp"
#include "protocol/ascii_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

/// Commands that a program is told to run by its environment or its configuration.
namespace gatehouse::policy::shell {
namespace {

// Sorted.
constexpr auto command_variables =
    std::to_array<std::string_view>({"AR",
                                     "BAT_PAGER",
                                     "BROWSER",
                                     "CARGO_BUILD_RUSTC",
                                     "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
                                     "CARGO_BUILD_RUSTC_WRAPPER",
                                     "CARGO_BUILD_RUSTDOC",
                                     "CC",
                                     "CCACHE_COMPILER",
                                     "CCACHE_PREFIX",
                                     "CCACHE_PREFIX_CPP",
                                     "CPP",
                                     "CVS_RSH",
                                     "CXX",
                                     "DELTA_PAGER",
                                     "DIFFPROG",
                                     "EDITOR",
                                     "FCEDIT",
                                     "FZF_DEFAULT_COMMAND",
                                     "GH_EDITOR",
                                     "GH_PAGER",
                                     "GIT_ASKPASS",
                                     "GIT_EDITOR",
                                     "GIT_EXTERNAL_DIFF",
                                     "GIT_PAGER",
                                     "GIT_PROXY_COMMAND",
                                     "GIT_SEQUENCE_EDITOR",
                                     "GIT_SSH",
                                     "GIT_SSH_COMMAND",
                                     "HGEDITOR",
                                     "KUBE_EDITOR",
                                     "LD",
                                     "LESSCLOSE",
                                     "LESSOPEN",
                                     "MAKE",
                                     "MANPAGER",
                                     "NIX_PAGER",
                                     "PAGER",
                                     "PROMPT_COMMAND",
                                     "PS4",
                                     "PSQL_EDITOR",
                                     "PSQL_PAGER",
                                     "RSYNC_CONNECT_PROG",
                                     "RSYNC_RSH",
                                     "RUSTC",
                                     "RUSTC_WORKSPACE_WRAPPER",
                                     "RUSTC_WRAPPER",
                                     "RUSTDOC",
                                     "SSH_ASKPASS",
                                     "SUDO_ASKPASS",
                                     "SUDO_EDITOR",
                                     "SVN_EDITOR",
                                     "SVN_SSH",
                                     "SYSTEMD_EDITOR",
                                     "SYSTEMD_PAGER",
                                     "TERMINAL",
                                     "TEXEDIT",
                                     "VISUAL",
                                     "npm_config_editor",
                                     "npm_config_script_shell"});

/// Variables that hold further options of a program.
struct option_variable {
  std::string_view name, program;
};
constexpr auto option_variables = std::to_array<option_variable>({
    {"FZF_DEFAULT_OPTS", "fzf"},
    {"GNUMAKEFLAGS", "make"},
    {"GOFLAGS", "go"},
    {"MAKEFLAGS", "make"},
    {"MANOPT", "man"},
    {"TAR_OPTIONS", "tar"},
});

/// `CARGO_TARGET_<triple>_RUNNER`, `…_LINKER`.
bool names_cargo_program(std::string_view variable) {
  return variable.starts_with("CARGO_TARGET_") &&
         (variable.ends_with("_RUNNER") || variable.ends_with("_LINKER"));
}

} // namespace

bool names_cmake_program(std::string_view setting) noexcept {
  return setting.starts_with("CMAKE_") &&
         (setting.ends_with("_LAUNCHER") || setting.ends_with("_COMPILER") ||
          setting.ends_with("_LINKER") || setting.ends_with("_PROGRAM") ||
          setting.ends_with("_EMULATOR"));
}

namespace {

/// As make and tar read them: blanks apart, with quotes and backslashes.
std::vector<word> option_words(std::string_view program, std::string_view text) {
  std::vector<word> words{{.text = std::string(program)}};
  bool open = false;
  char quote = '\0';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n')) {
      open = false;
      continue;
    }
    if (!std::exchange(open, true)) words.emplace_back();
    if (c == '\\' && at + 1 < text.size())
      words.back().text += text[++at];
    else if (c == quote)
      quote = '\0';
    else if (quote == '\0' && (c == '"' || c == '\''))
      quote = c;
    else
      words.back().text += c;
  }
  return words;
}

constexpr wrapper_grammar git_grammar = {
    .name = "git",
    .flags = "pPhv",
    .values = "cC",
    .longs = "git-dir= work-tree= namespace= super-prefix= config-env= exec-path? html-path "
             "man-path info-path paginate no-pager no-replace-objects bare literal-pathspecs "
             "glob-pathspecs noglob-pathspecs icase-pathspecs no-optional-locks list-cmds= "
             "attr-source= no-lazy-fetch no-advice version help"};

/// `ext::PROGRAM ARGUMENT…`: words between blanks; `% ` is a blank in a word, `%%` a percent sign.
std::vector<word> transport_words(const word& address) {
  std::vector<word> words(1);
  const std::string_view text = std::string_view{address.text}.substr(5);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') {
      words.emplace_back();
    } else {
      if (text[i] == '%' && i + 1 < text.size()) ++i;
      words.back().text += text[i];
    }
  }
  for (auto& w : words)
    w.known = address.known;
  return words;
}

/// True when git gives the value of `key` to a shell.
bool is_command_key(std::string_view key) {
  constexpr std::array<std::string_view, 15> keys = {"core.editor",
                                                     "core.fsmonitor",
                                                     "core.pager",
                                                     "core.sshcommand",
                                                     "core.askpass",
                                                     "core.gitproxy",
                                                     "core.alternaterefscommand",
                                                     "diff.external",
                                                     "sequence.editor",
                                                     "interactive.difffilter",
                                                     "uploadpack.packobjectshook",
                                                     "sendemail.sendmailcmd",
                                                     "web.browser",
                                                     "gc.recentobjectshook",
                                                     "credential.helper"};
  constexpr std::array<std::string_view, 12> endings = {
      ".cmd",    ".clean",   ".smudge", ".process",    ".textconv",    ".command",
      ".driver", ".program", ".helper", ".uploadpack", ".receivepack", ".proxycommand"};
  return std::find(keys.begin(), keys.end(), key) != keys.end() || key.starts_with("pager.") ||
         std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return key.ends_with(ending); });
}

} // namespace

void analyzer::git_setting(std::string key, word value, std::string_view of, const context& at) {
  key = to_lower_ascii(key);
  const bool shell_alias = value.text.starts_with('!');
  if (shell_alias) value.text.erase(0, 1);
  if (shell_alias || is_command_key(key)) script_word(value, of, at);
  if (!shell_alias && key.starts_with("alias.")) {
    value.text.insert(0, "git ");
    script_word(value, of, at);
  }
  if (key == "core.hookspath") unreadable("git is told to run hooks of another folder");
}

/// Arrays of bash that say what a name runs: `BASH_CMDS[ls]=…`.
void analyzer::note_renaming(std::string_view assignment) {
  for (const std::string_view array : {"BASH_CMDS", "BASH_ALIASES"})
    if (assignment.starts_with(array))
      must_ask("`" + std::string(array) + "` changes what a name runs");
}

void analyzer::assigned_scripts(std::span<const std::string> assignments, const context& at) {
  std::string git_key; // GIT_CONFIG_KEY_0=… GIT_CONFIG_VALUE_0=…
  for (const auto& assignment : assignments) {
    if (assignment.starts_with("GIT_CONFIG_KEY_"))
      git_key = assignment.substr(assignment.find('=') + 1);
    if (assignment.starts_with("GIT_CONFIG_VALUE_")) {
      context other = at;
      other.any_shell = true;
      git_setting(git_key, word{.text = assignment.substr(assignment.find('=') + 1)}, "git", other);
    }
    if (assignment.starts_with("GIT_CONFIG_PARAMETERS="))
      unreadable("git is configured by GIT_CONFIG_PARAMETERS");
    context other = at;
    other.any_shell = true;
    const auto variable = std::string_view{assignment}.substr(0, assignment.find('='));
    note_renaming(variable);
    auto command = assignment.substr(std::min(variable.size() + 1, assignment.size()));
    for (const auto& known : option_variables)
      if (variable == known.name) {
        embedded_commands(option_words(known.program, command), other);
        // make expands the whole before it parts the words.
        if (known.program == "make")
          script_word(word{.text = makefile_commands(command)}, variable, other);
      }
    if (variable == "MAKEFILES") {
      const auto files = option_words("make", command);
      for (const auto& file : words{files}.subspan(1))
        runs_file(text_kind::make, {&file, 1}, "make", other);
    }
    if (variable.starts_with("BASH_FUNC_")) // an exported function: `BASH_FUNC_f%%=() { …; }`
      script_word(word{.text = "f " + command + "; f"}, variable, other);
    if (!std::binary_search(command_variables.begin(), command_variables.end(), variable) &&
        !names_cargo_program(variable) && !names_cmake_program(variable))
      continue;
    if (assignment.starts_with("LESS")) command.erase(0, command.find_first_not_of("|-"));
    script_word(word{.text = std::move(command)}, variable, other);
  }
}

/// Settings whose value is a program: `rustc -C linker=P`, `cargo --config build.rustc="P"`,
/// `java -XX:OnError=C`, `rpm --eval '%(C)'`.
void analyzer::settings_of_builders(words all, std::string_view name, const context& at) {
  const auto value_behind = [&](word w, std::size_t at_text) {
    w.text.erase(0, at_text);
    std::erase_if(w.text, [](char c) { return c == '"' || c == '\''; });
    script_word(w, name, at);
  };
  const bool cargo = name == "cargo", rustc = name == "rustc" || name == "rustdoc";
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (rustc || cargo) {
      const auto given = option_value(all, i, rustc ? "C" : "", rustc ? "codegen" : "config");
      if (!given) continue;
      const std::string_view text = given->text;
      const auto equals = std::min(text.find('='), text.size());
      const auto key = text.substr(0, text.find_last_not_of(" \t", equals - 1) + 1);
      for (const std::string_view ending : {"linker", "rustc", "rustdoc", "runner", "rustc-wrapper",
                                            "rustc-workspace-wrapper", "credential-provider"})
        if (key == ending || (cargo && key.ends_with("." + std::string(ending))))
          value_behind(*given, equals + 1);
    } else if (name == "java" || name == "javac") {
      for (const std::string_view option : {"-XX:OnOutOfMemoryError=", "-XX:OnError="})
        if (all[i].text.starts_with(option)) value_behind(all[i], option.size());
    } else if (name == "rpm" || name == "rpmbuild") {
      auto macro = option_value(all, i, "ED", "eval define");
      if (!macro) continue;
      const auto call = macro->text.find("%(");
      if (call == std::string::npos) continue;
      macro->text = macro->text.substr(call + 2, macro->text.rfind(')') - call - 2);
      script_word(*macro, name, at);
    } else if (name == "fzf" || name == "sk") {
      const auto bound = option_value(all, i, "", "bind");
      if (!bound) continue;
      for (const std::string_view action :
           {"execute", "execute-silent", "reload", "become", "transform", "preview"})
        for (const char open : {'(', ':', '['}) {
          const auto found = bound->text.find(std::string(action) + open);
          if (found == std::string::npos) continue;
          word command = *bound;
          command.text.erase(0, found + action.size() + 1);
          if (open != ':' && !command.text.empty()) command.text.pop_back();
          script_word(command, name, at);
        }
    }
  }
}

void analyzer::git_commands(words all, const context& at) {
  context other = at;
  other.any_shell = true;
  const auto parsed = parse_options(git_grammar, all, 1);
  for (const auto& option : parsed.options) {
    const auto equals = option.value.text.find('=');
    if (option.name != "c" || equals == std::string::npos) continue;
    auto value = option.value;
    value.text.erase(0, equals + 1);
    git_setting(option.value.text.substr(0, equals), std::move(value), "git -c", other);
  }
  for (const auto& option : parsed.options)
    if (option.name == "config-env") unreadable("a git setting comes from the environment");
  const auto rest = all.subspan(parsed.command);
  if (rest.size() < 2) return;
  const auto& subcommand = rest[0].text;
  for (const auto& w : rest.subspan(1))
    if (w.text.starts_with("ext::")) inner_command(transport_words(w), true, "git", other);
  if (subcommand == "config") {
    for (std::size_t i = 1; i + 1 < rest.size(); ++i)
      if (!rest[i].text.starts_with('-') && rest[i].text.find('.') != std::string::npos)
        return git_setting(rest[i].text, rest[i + 1], "git config", other);
    return;
  }
  if (subcommand == "clone" || subcommand == "init")
    for (std::size_t i = 1; i < rest.size(); ++i)
      if (auto value = option_value(rest, i, "c", "config")) {
        const auto equals = value->text.find('=');
        if (equals == std::string::npos) continue;
        const auto key = value->text.substr(0, equals);
        value->text.erase(0, equals + 1);
        git_setting(key, *std::move(value), "git clone -c", other);
      }
  if (subcommand == "for-each-repo") {
    auto inner = rest.subspan(1);
    while (!inner.empty() && inner.front().text.starts_with('-')) {
      const std::string_view option = inner.front().text;
      const bool takes_next = option.size() > 2 && std::string_view{"--config"}.starts_with(option);
      inner = inner.subspan(takes_next ? std::min<std::size_t>(2, inner.size()) : 1);
      if (option == "--") break;
    }
    std::vector<word> other_git{all.front()};
    other_git.insert(other_git.end(), inner.begin(), inner.end());
    return inner_command(other_git, true, "git", other);
  }
  if (subcommand == "submodule" || subcommand == "bisect") {
    const auto verb = std::find_if(rest.begin() + 1, rest.end(), [](const word& w) {
      return w.text == "foreach" || w.text == "run";
    });
    if (verb == rest.end()) return;
    auto inner = rest.subspan(static_cast<std::size_t>(verb - rest.begin()) + 1);
    while (!inner.empty() && inner.front().text.starts_with('-'))
      inner = inner.subspan(1);
    if (inner.empty()) return;
    return joined_script(inner, "git", other);
  }
  struct running_options {
    std::string_view subcommand, shorts, longs;
  };
  static constexpr running_options table[] = {
      {"archive", "", "exec"},
      {"clone", "u", "upload-pack"},
      {"difftool", "x", "extcmd"},
      {"fetch", "", "upload-pack"},
      {"fetch-pack", "", "upload-pack exec"},
      {"grep", "O", "open-files-in-pager"},
      {"ls-remote", "", "upload-pack exec"},
      {"pull", "", "upload-pack"},
      {"push", "", "receive-pack exec"},
      {"rebase", "x", "exec"},
      {"send-email", "", "to-cmd cc-cmd header-cmd smtp-server sendmail-cmd"},
  };
  for (const auto& known : table) {
    if (subcommand != known.subcommand) continue;
    for (std::size_t i = 1; i < rest.size(); ++i)
      if (const auto value = option_value(rest, i, known.shorts, known.longs))
        script_word(*value, "git", other);
  }
  if (subcommand != "filter-branch") return;
  for (std::size_t i = 1; i + 1 < rest.size(); ++i)
    if (rest[i].text.ends_with("-filter")) script_word(rest[i + 1], "git", other);
}

} // namespace gatehouse::policy::shell
