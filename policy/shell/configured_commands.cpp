#include "policy/shell/analyzer.hpp"
#include "policy/shell/characters.hpp"

#include <algorithm>
#include <array>

/// Commands that a program is told to run by its environment or its configuration.
namespace gatehouse::policy::shell {
namespace {

// Sorted.
constexpr std::array<std::string_view, 16> command_variables = {"BROWSER",
                                                                "EDITOR",
                                                                "GIT_EDITOR",
                                                                "GIT_EXTERNAL_DIFF",
                                                                "GIT_PAGER",
                                                                "GIT_SEQUENCE_EDITOR",
                                                                "GIT_SSH_COMMAND",
                                                                "LESSCLOSE",
                                                                "LESSOPEN",
                                                                "MANPAGER",
                                                                "PAGER",
                                                                "PROMPT_COMMAND",
                                                                "PS4",
                                                                "RSYNC_RSH",
                                                                "SYSTEMD_PAGER",
                                                                "VISUAL"};

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
  constexpr std::array<std::string_view, 6> keys = {"core.editor",   "core.fsmonitor",
                                                    "core.pager",    "core.sshcommand",
                                                    "diff.external", "sequence.editor"};
  constexpr std::array<std::string_view, 7> endings = {
      ".cmd", ".clean", ".smudge", ".process", ".textconv", ".command", ".driver"};
  return std::find(keys.begin(), keys.end(), key) != keys.end() || key.starts_with("pager.") ||
         std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return key.ends_with(ending); });
}

} // namespace

void analyzer::assigned_scripts(std::span<const std::string> assignments, const context& at) {
  for (const auto& assignment : assignments) {
    if (!std::binary_search(command_variables.begin(), command_variables.end(),
                            assigned_name(assignment)))
      continue;
    context other = at;
    other.any_shell = true;
    script_word(word{.text = assignment.substr(assignment.find('=') + 1)},
                assigned_name(assignment), other);
  }
}

void analyzer::git_commands(words all, const context& at) {
  context other = at;
  other.any_shell = true;
  const auto parsed = parse_options(git_grammar, all, 1);
  for (const auto& option : parsed.options) {
    const auto equals = option.value.text.find('=');
    if (option.name != "c" || equals == std::string::npos) continue;
    std::string key = option.value.text.substr(0, equals);
    std::transform(key.begin(), key.end(), key.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    auto value = option.value;
    value.text.erase(0, equals + 1);
    const bool shell_alias = value.text.starts_with('!');
    if (shell_alias) value.text.erase(0, 1);
    if (shell_alias || is_command_key(key)) script_word(value, "git -c", other);
  }
  const auto rest = all.subspan(parsed.command);
  if (rest.size() < 3) return;
  const auto& subcommand = rest[0].text;
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
  for (std::size_t i = 1; i < rest.size(); ++i) {
    const auto& text = rest[i].text;
    const bool runs =
        (subcommand == "rebase" && (text.starts_with("-x") || text.starts_with("--exec"))) ||
        (subcommand == "filter-branch" && text.ends_with("-filter")) ||
        (subcommand == "difftool" && (text == "-x" || text.starts_with("--extcmd")));
    if (!runs) continue;
    auto value = rest[i];
    const auto equals = text.find('=');
    if (equals != std::string::npos)
      value.text.erase(0, equals + 1);
    else if (text.starts_with("-x") && text.size() > 2)
      value.text.erase(0, 2);
    else if (i + 1 < rest.size())
      value = rest[++i];
    else
      continue;
    script_word(value, "git", other);
  }
}

} // namespace gatehouse::policy::shell
