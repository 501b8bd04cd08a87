#include "policy/git_commands.hpp"

#include "protocol/ascii_text.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

struct subcommand {
  words globals; ///< what stands between `git` and the subcommand
  std::string_view name;
  words args;
};

std::optional<subcommand> find_subcommand(words argv) {
  if (const auto name = program_name(argv[0]);
      name.starts_with("git-")) // libexec/git-core/git-push
    return subcommand{{}, name.substr(4), argv.subspan(1)};
  std::size_t i = 1;
  while (i < argv.size() && argv[i].starts_with('-'))
    i += is_one_of(argv[i], {"-C", "-c", "--config-env", "--git-dir", "--namespace",
                             "--super-prefix", "--work-tree", "--attr-source"})
             ? 2
             : 1;
  if (i >= argv.size()) return std::nullopt;
  return subcommand{argv.subspan(1, i - 1), argv[i], argv.subspan(i + 1)};
}

/// Global options that change nothing about where git looks or what it executes.
bool is_harmless_global(std::string_view arg) {
  return is_one_of(arg, {"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs",
                         "--glob-pathspecs", "--noglob-pathspecs", "--icase-pathspecs",
                         "--no-replace-objects", "--no-lazy-fetch"});
}

/// Options of the reading subcommands that write a file or start a program.
bool writes_or_executes(std::string_view arg) {
  if (arg == "--text" || arg.starts_with("--output-indicator-")) return false;
  for (std::string_view option : {"output", "output-directory", "ext-diff", "textconv", "exec",
                                  "paginate", "show-signature", "open-files-in-pager", "filters"})
    if (abbreviates(arg, option)) return true;
  // `%G?` and its kin start the configured signature checker.
  return arg.starts_with("-O") || arg.find("%G") != std::string_view::npos;
}

/// `git branch` with an operand makes a branch unless an option puts it into list mode.
bool only_lists_branches(words args) {
  bool list_mode = false;
  bool has_operand = false;
  for (std::string_view arg : args) {
    const auto name = arg.substr(0, arg.find('='));
    if (arg == "--list" ||
        is_one_of(name, {"--contains", "--no-contains", "--merged", "--no-merged", "--points-at"}))
      list_mode = true;
    else if (!arg.starts_with('-'))
      has_operand = true;
    else if (
        !is_one_of(
            arg,
            {"-l",          "-a",           "--all", "-r",        "--remotes",      "-v",
             "-vv",         "-av",          "-avv",  "-va",       "-vva",           "-rv",
             "-rvv",        "-vr",          "-vvr",  "--verbose", "--show-current", "--no-color",
             "--no-column", "--ignore-case"}) &&
        !(name != arg &&
          is_one_of(name, {"--format", "--sort", "--color", "--column", "--abbrev"})))
      return false;
  }
  return list_mode || !has_operand;
}

bool is_forced_push(words args) {
  return std::ranges::any_of(args, [](std::string_view arg) {
    return abbreviates(arg, "force") || abbreviates(arg, "force-with-lease") ||
           abbreviates(arg, "mirror") || abbreviates(arg, "delete") || abbreviates(arg, "prune") ||
           has_short(arg, 'f') || has_short(arg, 'd') ||
           (arg.size() > 1 && (arg[0] == '+' || arg[0] == ':'));
  });
}

bool discards_everything(words args) {
  const auto paths = operands(args);
  return std::ranges::any_of(paths, [](std::string_view path) {
    return is_broad_path(path) || path == ":/" || path == ":/*";
  });
}

} // namespace

bool runs_configured_programs(std::string_view word) noexcept {
  const auto name = program_name(word);
  return is_one_of(name, {"git", "hg", "jj", "tig", "scalar"}) || name.starts_with("git-");
}

bool is_read_only_git(words argv) {
  const auto command = find_subcommand(argv);
  if (!command || !std::ranges::all_of(command->globals, is_harmless_global)) return false;
  if (std::ranges::any_of(command->args, writes_or_executes)) return false;
  if (command->name == "branch") return only_lists_branches(command->args);
  return is_one_of(command->name, {"status", "log", "diff", "show"});
}

std::optional<std::vector<std::string>> without_git_globals(words argv) {
  const auto command = find_subcommand(argv);
  const bool by_name = program_name(argv[0]) != "git";
  if (!command || (command->globals.empty() && !by_name)) return std::nullopt;
  std::vector<std::string> shorter{by_name ? "git" : argv[0], std::string{command->name}};
  shorter.insert(shorter.end(), command->args.begin(), command->args.end());
  return shorter;
}

std::optional<std::string> find_git_danger(words argv) {
  const auto command = find_subcommand(argv);
  if (!command) return std::nullopt;
  // `-c alias.x='!program' x`: the subcommand is whatever the option says.
  for (std::string_view global : command->globals)
    if (to_lower_ascii(global.substr(0, 6)) == "alias.")
      return "a git alias made on the spot hides what runs";
  const auto name = command->name;
  const auto options = before_double_dash(command->args);
  const bool dry_run = any_abbreviates(options, "dry-run") || any_has_short(options, 'n');
  const bool forced = any_abbreviates(options, "force") || any_has_short(options, 'f');
  const auto is_clean_force = [](std::string_view setting) {
    return to_lower_ascii(setting.substr(0, setting.find('='))) == "clean.requireforce";
  };
  const bool clean_unforced = std::ranges::any_of(command->globals, is_clean_force);
  if (name == "config" && command->args.size() > 1 &&
      std::ranges::any_of(command->args, is_clean_force))
    return "with this setting git clean deletes untracked files without -f";
  if (name == "clean" && !dry_run && (forced || clean_unforced))
    return "git clean -f deletes untracked files for good";
  if (name == "reset" && any_abbreviates(options, "hard"))
    return "git reset --hard throws uncommitted changes away";
  if (name == "branch" &&
      (any_has_short(options, 'D') ||
       (forced && (any_abbreviates(options, "delete") || any_has_short(options, 'd')))))
    return "this deletes a branch whose commits may be nowhere else";
  if (is_one_of(name, {"push", "send-pack"}) && !dry_run && is_forced_push(command->args))
    return "this push rewrites or deletes what others share";
  if (name == "checkout" && (forced || discards_everything(command->args)))
    return "this checkout throws uncommitted changes away";
  if (name == "switch" && (forced || any_abbreviates(options, "discard-changes")))
    return "this switch throws uncommitted changes away";
  const bool index_only = (any_abbreviates(options, "staged") || any_has_short(options, 'S')) &&
                          !any_abbreviates(options, "worktree") && !any_has_short(options, 'W');
  if (name == "restore" && !index_only && discards_everything(command->args))
    return "this restore throws uncommitted changes away";
  if (name == "rm" && forced && !dry_run) return "git rm -f deletes files with uncommitted changes";
  if (name == "worktree" && forced && !command->args.empty() && command->args[0] == "remove")
    return "this deletes a working tree with its changes";
  if (name == "gc" && any_abbreviates(options, "prune") &&
      std::ranges::find(options, "--prune=now") != options.end())
    return "this deletes lost commits for good";
  if (name == "stash" && !command->args.empty() && is_one_of(command->args[0], {"clear", "drop"}))
    return "this deletes stashed work";
  if (name == "reflog" && !command->args.empty() &&
      is_one_of(command->args[0], {"expire", "delete"}))
    return "this deletes the record from which lost commits are recovered";
  if (is_one_of(name, {"filter-branch", "filter-repo"})) return "this rewrites the whole history";
  return std::nullopt;
}

} // namespace gatehouse::policy
