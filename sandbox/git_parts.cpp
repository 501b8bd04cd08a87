#include "sandbox/git_parts.hpp"

#include "policy/path_text.hpp"
#include "protocol/ascii_text.hpp"
#include "sandbox/command_files.hpp"
#include "sandbox/git_config.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

constexpr std::size_t max_pointer = 64 * 1024;
constexpr std::size_t max_configuration = 1024 * 1024;
constexpr int most_configurations = 100; // that one leads to; a file may include itself
constexpr int most_module_folders = 1000;

/// Parts of a repository that make git execute or obey something.
constexpr std::array<std::string_view, 5> executed_parts{"config", "config.worktree", "hooks",
                                                         "info", "commondir"};

/// Does git run the value as a command, without being asked for it by name as an alias is?
bool names_program(const git_setting& one) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 22> programs{
      {{"core", "fsmonitor"},
       {"core", "sshcommand"},
       {"core", "askpass"},
       {"core", "editor"},
       {"core", "pager"},
       {"core", "gitproxy"},
       {"core", "alternaterefscommand"},
       {"credential", "helper"},
       {"diff", "command"},
       {"diff", "external"},
       {"diff", "textconv"},
       {"filter", "clean"},
       {"filter", "smudge"},
       {"filter", "process"},
       {"gpg", "program"},
       {"gpg", "defaultkeycommand"},
       {"hook", "command"},
       {"interactive", "difffilter"},
       {"merge", "driver"},
       {"sequence", "editor"},
       {"trailer", "command"},
       {"uploadpack", "packobjectshook"}}};
  return one.section == "pager" ||
         std::any_of(programs.begin(), programs.end(), [&](const auto& program) {
           return program.first == one.section && program.second == one.name;
         });
}

/// The text of a regular file, at most `limit` bytes of it; nothing when it cannot be opened.
std::optional<std::string> read_git_file(const std::string& path, std::size_t limit) {
  // Not blocking: the name may be a FIFO.
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status {};
  std::string text;
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    text.resize(std::min(limit, static_cast<std::size_t>(status.st_size)));
    const auto size = ::read(file, text.data(), text.size());
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  }
  ::close(file);
  return text;
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

/// `path` below `folder` unless absolute, dots left for the kernel's way of resolving them.
std::string from_folder(const std::string& folder, std::string_view path) {
  return path.starts_with('/') ? std::string{path} : folder + "/" + std::string{path};
}

/// `path` with `~/` replaced; empty for somebody else's home folder, which is not looked up.
std::string in_home(std::string_view path) {
  const char* home = std::getenv("HOME");
  if (!path.starts_with('~')) return std::string{path};
  return path.starts_with("~/") && home ? home + std::string{path.substr(1)} : std::string{};
}

bool is_git_folder(const std::string& folder) {
  return exists(folder + "/HEAD") && exists(folder + "/objects") && exists(folder + "/refs");
}

/// What the text of a `.git` file in `folder` names, canonical; empty when it names nothing.
std::string pointer_target(const std::string& folder, std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || trimmed(text.substr(0, colon)) != "gitdir") return {};
  const auto target = trimmed(text.substr(colon + 1));
  return target.empty() ? std::string{} : look_at(from_folder(folder, target)).canonical;
}

/// What the configurations of one repository lead to.
class configuration_search {
public:
  /// @param git_folder `core.worktree` is relative to it
  configuration_search(host_facts& facts, const std::string& root, const std::string& git_folder)
      : facts_{facts}, root_{root}, git_folder_{git_folder} {}

  /// Reads a file and what it includes, whatever the condition. Included files are protected.
  void read(const std::string& file) {
    if (files_left_-- <= 0) {
      facts_.warnings.push_back("the configuration of `" + git_folder_ +
                                "` includes too many files; what `" + file +
                                "` names is not protected");
      return;
    }
    const auto text = read_git_file(file, max_configuration + 1);
    if (!text) return;
    if (text->size() > max_configuration)
      facts_.unread_configurations.emplace_back(
          file, "it is larger than " + std::to_string(max_configuration / 1024) + " KiB");
    for (const auto& one : read_git_config(*text)) {
      if (names_program(one)) commands_.insert(one.value);
      // git 2.52 lets a path be marked so.
      constexpr std::string_view optional_mark = ":(optional)";
      std::string_view path = one.value;
      if (path.starts_with(optional_mark)) path.remove_prefix(optional_mark.size());
      const auto named = in_home(path);
      path = named;
      if (path.empty()) continue;
      if (one.section == "core" && one.subsection.empty() && one.name == "hookspath")
        hooks_.emplace(path);
      if (one.section == "core" && one.subsection.empty() && one.name == "worktree")
        work_trees_.insert(from_folder(git_folder_, path));
      const bool includes =
          (one.section == "include" && one.subsection.empty()) || one.section == "includeif";
      if (!includes || one.name != "path") continue;
      const auto included = from_folder(std::string{policy::parent_of(file)}, path);
      protect(facts_, root_, included, "included by `" + file + "`", true);
      read(included);
    }
  }

  /// Protects the hooks, which are relative to a work tree, and the files that commands name.
  /// @param work_tree besides what `core.worktree` says; empty: not known
  void protect_programs(const std::string& work_tree) {
    if (!work_tree.empty()) work_trees_.insert(work_tree);
    if (work_trees_.empty()) work_trees_.insert(git_folder_);
    for (const auto& path : hooks_)
      for (const auto& tree : work_trees_)
        protect(facts_, root_, from_folder(tree, path), "hooks of `" + git_folder_ + "`", true);
    const char* const home = std::getenv("HOME");
    const char* const search_path = std::getenv("PATH");
    for (std::string_view command : commands_) {
      // A credential helper begins so when it is a command for the shell.
      if (command.starts_with('!')) command.remove_prefix(1);
      for (const auto& tree : work_trees_)
        for (const auto& file :
             files_of_command(command, {tree, search_path ? search_path : "", home ? home : ""})
                 .files)
          protect(facts_, root_, file, "run by `" + git_folder_ + "/config`", true);
    }
  }

private:
  host_facts& facts_;
  const std::string& root_;
  const std::string& git_folder_;
  std::set<std::string> hooks_;
  std::set<std::string> commands_;
  std::set<std::string> work_trees_;
  int files_left_ = most_configurations;
};

void follow_configuration(host_facts& facts, const std::string& root, const std::string& git_folder,
                          const std::string& work_tree) {
  configuration_search search{facts, root, git_folder};
  search.read(git_folder + "/config");
  search.read(git_folder + "/config.worktree");
  search.protect_programs(work_tree);
}

/// The names of the folders in `folder`, links among them.
std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* stream = ::opendir(folder.c_str());
  if (!stream) return names;
  while (const dirent* entry = ::readdir(stream))
    if (const std::string_view name{entry->d_name};
        name != "." && name != ".." &&
        (entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN))
      names.emplace_back(name);
  ::closedir(stream);
  return names;
}

/// The git folders of submodules, whose names may have several parts.
void follow_modules(host_facts& facts, const std::string& root, const std::string& git_folder) {
  std::vector<std::string> waiting{git_folder + "/modules"};
  for (int left = most_module_folders; !waiting.empty();) {
    const auto folder = std::move(waiting.back());
    waiting.pop_back();
    for (const auto& name : folders_in(folder)) {
      if (left-- <= 0) {
        facts.warnings.push_back("`" + git_folder +
                                 "/modules` holds too many folders; what the configurations of "
                                 "some submodules name is not protected");
        return;
      }
      const auto below = folder + "/" + name;
      const bool is_module = exists(below + "/HEAD");
      if (is_module) follow_configuration(facts, root, below, {});
      waiting.push_back(is_module ? below + "/modules" : below);
    }
  }
}

void follow_pointer_file(host_facts& facts, const std::string& root, const std::string& folder,
                         std::string_view text) {
  const auto git_folder = pointer_target(folder, text);
  if (git_folder.empty()) return;
  const auto why = "git folder of `" + folder + "`";
  follow_configuration(facts, root, git_folder, folder);
  const auto text_of_common = read_git_file(git_folder + "/commondir", max_pointer);
  if (text_of_common && !trimmed(*text_of_common).empty()) {
    const auto common = look_at(from_folder(git_folder, trimmed(*text_of_common))).canonical;
    protect(facts, root, common, why, true);
    follow_configuration(facts, root, common, folder);
    follow_modules(facts, root, common);
    // One place for both, so that one entry opens it.
    if (policy::is_at_or_below(git_folder, common)) return;
  }
  protect(facts, root, git_folder, why, true);
  follow_modules(facts, root, git_folder);
}

} // namespace

void protect(host_facts& facts, const std::string& root, std::string_view path, std::string why,
             bool named_elsewhere) {
  auto found = look_at(path);
  auto real = found.canonical;
  facts.protected_paths.push_back(
      {std::move(real), root, std::move(found), std::move(why), named_elsewhere});
}

std::vector<std::string> git_folders_of(const std::string& work_tree) {
  const auto root = look_at(work_tree).canonical;
  const auto fact = look_at(root + "/.git");
  if (fact.kind == path_kind::directory) return {fact.canonical};
  const auto text = read_git_file(fact.canonical, max_pointer);
  const auto git_folder = text ? pointer_target(root, *text) : std::string{};
  if (git_folder.empty() || look_at(git_folder).kind != path_kind::directory) return {};
  // The file came with the work tree, maybe from a stranger: what it names must know of it.
  constexpr std::string_view modules = "/.git/modules/";
  if (const auto at = git_folder.find(modules); at != std::string::npos)
    return policy::is_at_or_below(root, git_folder.substr(0, at))
               ? std::vector<std::string>{git_folder}
               : std::vector<std::string>{};
  const auto back = read_git_file(git_folder + "/gitdir", max_pointer);
  const std::string all{policy::parent_of(git_folder)};
  const std::string common{policy::parent_of(all)};
  if (!back || look_at(from_folder(git_folder, trimmed(*back))).canonical != fact.canonical ||
      policy::name_of(all) != "worktrees" || !is_git_folder(common))
    return {};
  return {common};
}

void find_git_parts(host_facts& facts, const std::string& root, const std::string& folder) {
  const std::string base = folder == "/" ? "" : folder;
  const std::string git = base + "/.git";
  struct stat status {};
  const bool has_git = ::lstat(git.c_str(), &status) == 0;
  if (has_git && S_ISREG(status.st_mode)) {
    if (const auto text = read_git_file(git, max_pointer))
      follow_pointer_file(facts, root, folder, *text);
  } else if (has_git) {
    follow_configuration(facts, root, git, folder);
    follow_modules(facts, root, git);
  }
  if (!is_git_folder(folder)) return;
  for (const auto part : executed_parts)
    protect(facts, root, base + "/" + std::string{part},
            std::string{part} + " of the bare repository `" + folder + "`", false);
  follow_configuration(facts, root, folder, folder);
}

void find_git_parts_above(host_facts& facts, const std::string& root) {
  for (auto folder = root; folder != "/";) {
    folder = policy::parent_of(folder);
    const auto git = (folder == "/" ? "" : folder) + "/.git";
    const bool has_git = exists(git);
    // Not writable itself, but links in it may lead to what is.
    if (has_git) protect(facts, root, git, "repository around `" + root + "`", true);
    if (!has_git && !is_git_folder(folder)) continue;
    find_git_parts(facts, root, folder);
    return;
  }
}

} // namespace gatehouse::sandbox
