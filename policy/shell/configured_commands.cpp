#include "policy/shell/analyzer.hpp"
#include "policy/shell/characters.hpp"
#include "policy/shell/special_commands.hpp"

#include <algorithm>
#include <array>

/// Commands that a program is told to run by its environment or its configuration.
namespace gatehouse::policy::shell {
namespace {

// Sorted.
constexpr std::array<std::string_view, 49> command_variables = {"AR",
                                                                "BAT_PAGER",
                                                                "BROWSER",
                                                                "CC",
                                                                "CPP",
                                                                "CVS_RSH",
                                                                "CXX",
                                                                "DELTA_PAGER",
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
                                                                "PAGER",
                                                                "PROMPT_COMMAND",
                                                                "PS4",
                                                                "PSQL_EDITOR",
                                                                "PSQL_PAGER",
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
                                                                "VISUAL",
                                                                "npm_config_editor",
                                                                "npm_config_script_shell"};

constexpr wrapper_grammar git_grammar = {
    .name = "git",
    .flags = "pPhv",
    .values = "cC",
    .longs = "git-dir= work-tree= namespace= super-prefix= config-env= exec-path? html-path "
             "man-path info-path paginate no-pager no-replace-objects bare literal-pathspecs "
             "glob-pathspecs noglob-pathspecs icase-pathspecs no-optional-locks list-cmds= "
             "attr-source= no-lazy-fetch no-advice version help"};

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
  std::transform(key.begin(), key.end(), key.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const bool shell_alias = value.text.starts_with('!');
  if (shell_alias) value.text.erase(0, 1);
  if (shell_alias || is_command_key(key)) script_word(value, of, at);
  if (key == "core.hookspath") unreadable("git is told to run hooks of another folder");
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
    if (!std::binary_search(command_variables.begin(), command_variables.end(),
                            assigned_name(assignment)))
      continue;
    context other = at;
    other.any_shell = true;
    auto command = assignment.substr(assignment.find('=') + 1);
    if (assignment.starts_with("LESS")) command.erase(0, command.find_first_not_of("|-"));
    script_word(word{.text = std::move(command)}, assigned_name(assignment), other);
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
    if (w.text.starts_with("ext::")) {
      auto transport = w;
      transport.text.erase(0, 5);
      script_word(transport, "git", other);
    }
  if (subcommand == "config") {
    for (std::size_t i = 1; i + 1 < rest.size(); ++i)
      if (!rest[i].text.starts_with('-') && rest[i].text.find('.') != std::string::npos)
        return git_setting(rest[i].text, rest[i + 1], "git config", other);
    return;
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
