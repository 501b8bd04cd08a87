#include "policy/command_words.hpp"

#include "policy/path_text.hpp"

#include <algorithm>

namespace gatehouse::policy {

std::string_view program_name(std::string_view word) noexcept {
  const auto slash = word.rfind('/');
  return slash == std::string_view::npos ? word : word.substr(slash + 1);
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) noexcept {
  return std::ranges::find(list, text) != list.end();
}

bool lists_word(std::string_view list, std::string_view word) noexcept {
  for (std::size_t at = 0; at < list.size();) {
    const auto end = std::min(list.find(' ', at), list.size());
    if (list.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

bool abbreviates(std::string_view arg, std::string_view name) noexcept {
  if (!arg.starts_with("--")) return false;
  const auto given = arg.substr(2, arg.find('=') - 2);
  return !given.empty() && name.starts_with(given);
}

bool any_abbreviates(words args, std::string_view name) noexcept {
  return std::ranges::any_of(args, [&](const auto& arg) { return abbreviates(arg, name); });
}

bool has_short(std::string_view arg, char letter) noexcept {
  return arg.size() > 1 && arg[0] == '-' && arg[1] != '-' &&
         arg.find(letter, 1) != std::string_view::npos;
}

bool any_has_short(words args, char letter) noexcept {
  return std::ranges::any_of(args, [&](const auto& arg) { return has_short(arg, letter); });
}

words before_double_dash(words args) noexcept {
  const auto end = std::ranges::find(args, "--");
  return args.first(static_cast<std::size_t>(end - args.begin()));
}

std::vector<std::string_view> operands(words args) {
  std::vector<std::string_view> found;
  bool only_operands = false;
  for (const auto& arg : args) {
    if (only_operands || arg.empty() || arg[0] != '-' || arg == "-")
      found.push_back(arg);
    else if (arg == "--")
      only_operands = true;
  }
  return found;
}

bool is_raw_device(std::string_view path) {
  if (!path.starts_with('/')) return false;
  const auto real = lexically_normal(path);
  if (!real.starts_with("/dev/")) return false;
  const auto name = std::string_view{real}.substr(5);
  constexpr std::string_view families[] = {"sd",   "hd",    "vd",      "xvd",    "nvme", "mmcblk",
                                           "loop", "md",    "dm-",     "nbd",    "zram", "ram",
                                           "disk", "rdisk", "mapper/", "block/", "pmem", "mtd"};
  return is_one_of(name, {"mem", "kmem", "port"}) ||
         std::ranges::any_of(families, [&](auto family) { return name.starts_with(family); });
}

namespace {

/// `path` without what a shell's user adds to a folder: `/`, `/.`, `/*`, `/.*` at the end.
std::string_view bare_folder(std::string_view path) {
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (std::string_view tail : {"/", "/.", "/*", "/.*"})
      if (path.size() > tail.size() && path.ends_with(tail)) {
        path.remove_suffix(tail == "/" ? 1 : tail.size());
        shorter = true;
      }
  }
  while (path.size() > 1 && path.starts_with("//"))
    path.remove_prefix(1);
  return path;
}

} // namespace

bool is_broad_path(std::string_view path) {
  path = bare_folder(path);
  while (path.starts_with("../")) {
    if (path.ends_with("/..")) return true;
    path = bare_folder(path.substr(3));
  }
  if (is_one_of(path, {"", "/", "/*", "/.", "/..", ".", "..", "*", ".*", "~", "$HOME", "${HOME}"}))
    return true;
  if (path.starts_with("~")) return path.find('/') == std::string_view::npos;
  if (!path.starts_with('/')) return false;
  const auto rest = path.substr(1);
  const auto slash = rest.find('/');
  if (slash == std::string_view::npos) return true;
  const auto top = rest.substr(0, slash);
  return is_one_of(top, {"home", "Users"}) && rest.find('/', slash + 1) == std::string_view::npos;
}

} // namespace gatehouse::policy
