#include "policy/file_danger.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

bool any_broad(const std::vector<std::string_view>& paths) {
  return std::ranges::any_of(paths, is_broad_path);
}

std::optional<std::string> find_rm_danger(words args, int hidden_words) {
  const auto options = before_double_dash(args);
  const bool recursive = any_abbreviates(options, "recursive") || any_has_short(options, 'r') ||
                         any_has_short(options, 'R');
  if (any_abbreviates(options, "no-preserve-root"))
    return "rm --no-preserve-root may delete the whole file system";
  if (recursive && any_broad(operands(args))) return "it deletes everything below a broad folder";
  if (hidden_words > 0) return "what rm would delete is only known when it runs";
  return std::nullopt;
}

bool deletes(std::string_view program) {
  return is_one_of(program_name(program), {"rm", "unlink", "shred", "rmdir"});
}

std::optional<std::string> find_fd_danger(words args) {
  constexpr auto why = "it deletes every file that fd finds";
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    const bool runs = is_one_of(arg, {"-x", "-X", "--exec", "--exec-batch"});
    if (runs && i + 1 < args.size() && deletes(args[i + 1])) return why;
    if (arg.starts_with("--exec") &&
        deletes(arg.substr(std::min(arg.find('='), arg.size() - 1) + 1)))
      return why;
    if (arg.size() > 2 && (arg.starts_with("-x") || arg.starts_with("-X")) &&
        deletes(arg.substr(2)))
      return why;
  }
  return std::nullopt;
}

std::optional<std::string> find_find_danger(words args) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "-delete") return "find -delete deletes every file it finds";
    if (is_one_of(args[i], {"-exec", "-execdir", "-ok", "-okdir"}) && i + 1 < args.size() &&
        deletes(args[i + 1]))
      return "it deletes every file that find finds";
  }
  return std::nullopt;
}

/// `777`, `0666`, `o+w`, `a=rwx`: everybody may write.
bool opens_to_everybody(std::string_view mode) {
  if (mode.empty()) return false;
  if (std::ranges::all_of(mode, [](char c) { return c >= '0' && c <= '7'; }))
    return mode.size() >= 3 && ((mode.back() - '0') & 2) != 0;
  const auto change = mode.find_first_of("+=");
  if (change == std::string_view::npos) return false;
  const auto who = mode.substr(0, change);
  return who.find_first_of("oa") != std::string_view::npos &&
         mode.find('w', change) != std::string_view::npos;
}

/// `u+s`, `4755`: the file runs with its owner's or group's rights.
bool sets_id_bit(std::string_view mode) {
  if (mode.size() == 4 && std::ranges::all_of(mode, [](char c) { return c >= '0' && c <= '7'; }))
    return ((mode[0] - '0') & 6) != 0;
  const auto change = mode.find_first_of("+=");
  return change != std::string_view::npos && mode.find_first_not_of("ugoa") == change &&
         mode.find('s', change) != std::string_view::npos;
}

std::optional<std::string> find_mode_danger(words argv) {
  const auto args = argv.subspan(1);
  const auto options = before_double_dash(args);
  const bool recursive = any_abbreviates(options, "recursive") || any_has_short(options, 'R');
  const auto paths = operands(args);
  if (program_name(argv[0]) == "chmod" && !paths.empty()) {
    if (sets_id_bit(paths.front())) return "it lets a program run with its owner's rights";
    if (recursive && opens_to_everybody(paths.front()))
      return "it lets everybody write to a whole tree";
  }
  const auto outside = [](std::string_view path) {
    return is_broad_path(path) && (path.starts_with('/') || path.starts_with('~'));
  };
  if (recursive && std::ranges::any_of(paths, outside))
    return "it changes everything below a broad folder";
  return std::nullopt;
}

std::optional<std::string> find_dd_danger(words args, int hidden_words) {
  if (hidden_words > 0) return "what dd would overwrite is only known when it runs";
  for (std::string_view arg : args)
    if (arg.starts_with("of=") &&
        !is_one_of(arg.substr(3), {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/1"}))
      return "dd of= overwrites its target without a question";
  return std::nullopt;
}

bool formats_or_repartitions(words argv) {
  const auto name = program_name(argv[0]);
  const auto args = argv.subspan(1);
  if (name == "badblocks") return any_has_short(args, 'w') || any_has_short(args, 'n');
  if (name.starts_with("mkfs.") ||
      is_one_of(name, {"mkfs", "mke2fs", "mkswap", "newfs", "blkdiscard", "cfdisk", "sgdisk",
                       "vgremove", "lvremove", "pvremove", "mkdosfs", "mkntfs"}))
    return true;
  if (is_one_of(name, {"fdisk", "sfdisk", "gdisk", "parted"}))
    return !any_has_short(args, 'l') && !any_abbreviates(args, "list") && !args.empty() &&
           !(name == "sfdisk" && (any_has_short(args, 'd') || any_abbreviates(args, "dump")));
  if (name == "wipefs")
    return any_has_short(args, 'a') || any_has_short(args, 'o') || any_abbreviates(args, "all") ||
           any_abbreviates(args, "offset");
  if (name == "cryptsetup")
    return std::ranges::any_of(args, [](std::string_view arg) {
      return is_one_of(arg, {"luksFormat", "erase", "luksErase", "luksRemoveKey"});
    });
  if (name == "nvme") return !args.empty() && is_one_of(args[0], {"format", "sanitize"});
  if (name == "hdparm")
    return std::ranges::any_of(args,
                               [](std::string_view a) { return a.starts_with("--security-"); });
  return is_one_of(name, {"zpool", "zfs"}) && !args.empty() && args[0] == "destroy";
}

} // namespace

bool is_forced_rm(words argv) {
  if (argv.empty() || program_name(argv[0]) != "rm") return false;
  return std::ranges::any_of(before_double_dash(argv.subspan(1)), [](std::string_view arg) {
    return has_short(arg, 'f') ||
           (abbreviates(arg, "force") && arg.find('=') == std::string_view::npos);
  });
}

std::optional<std::string> find_file_danger(words argv, int hidden_words) {
  const auto name = program_name(argv[0]);
  const auto args = argv.subspan(1);
  if (name == "rm") return find_rm_danger(args, hidden_words);
  if (name == "find") return find_find_danger(args);
  if (name == "fd" || name == "fdfind") return find_fd_danger(args);
  if (name == "shred") return "shred makes files unrecoverable";
  if (is_one_of(name, {"dd", "dcfldd", "dc3dd", "gdd"})) return find_dd_danger(args, hidden_words);
  if (is_one_of(name, {"chmod", "chown", "chgrp"})) return find_mode_danger(argv);
  if (formats_or_repartitions(argv)) return "it erases or repartitions a disk";
  if (name == "rsync" && !operands(args).empty() && is_broad_path(operands(args).back()) &&
      std::ranges::any_of(args, [](std::string_view a) { return a.starts_with("--del"); }))
    return "it deletes below a broad folder what its source does not hold";
  if (is_one_of(name, {"tee", "cp", "mv", "truncate", "install", "rsync", "scp", "curl", "wget",
                       "ddrescue", "dd_rescue", "sponge", "sed"})) {
    const auto paths = operands(args);
    const bool only_reads =
        name == "sed" && !any_has_short(args, 'i') && !any_abbreviates(args, "in-place");
    if (!only_reads && std::ranges::any_of(paths, is_raw_device))
      return "it writes to a raw device";
    if (name == "mv" && !paths.empty() && paths.back() == "/dev/null")
      return "moving a file to /dev/null destroys it";
  }
  return std::nullopt;
}

} // namespace gatehouse::policy
