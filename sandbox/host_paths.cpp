#include "sandbox/host_paths.hpp"

#include "policy/path_text.hpp"
#include "sandbox/git_parts.hpp"
#include "sandbox/link_targets.hpp"
#include "sandbox/nested_names.hpp"
#include "sandbox/walk_globs.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

constexpr int max_links = 40; // as the kernel

path_kind kind_of(mode_t mode) noexcept {
  if (S_ISDIR(mode)) return path_kind::directory;
  return S_ISREG(mode) ? path_kind::file : path_kind::other;
}

std::optional<std::string> link_text(const std::string& path) {
  std::array<char, 4096> text{};
  const auto size = ::readlink(path.c_str(), text.data(), text.size());
  if (size <= 0 || static_cast<std::size_t>(size) == text.size()) return std::nullopt;
  return std::string{text.data(), static_cast<std::size_t>(size)};
}

/// errno of a look at `folder`/`name` when it leaves open whether anything stands there, else 0.
int unseen_after(int failure, const std::string& folder, const std::string& name) {
  switch (failure) {
  case 0:
  case ENOENT:
  case ENOTDIR:
  case ELOOP: return 0;
  case ENAMETOOLONG: return name.size() > NAME_MAX ? 0 : failure;
  case EACCES: return is_own(folder) ? failure : 0;
  default: return failure;
  }
}

std::string joined(std::string_view folder, std::string_view name) {
  std::string path{folder == "/" ? "" : folder};
  return path.append("/").append(name);
}

void split_into(std::deque<std::string>& front, std::string_view path) {
  const auto parts = policy::components_of(path);
  front.insert(front.begin(), parts.begin(), parts.end());
}

/// The protected names directly below one writable root.
void look_at_protected_names(host_facts& facts, const std::string& root,
                             const policy::access_context& context) {
  const int folder = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  for (const auto& name : context.protected_names) {
    const std::string first = name.substr(0, name.find('/'));
    protected_fact fact{joined(root, name), root, {}, "protected name `" + name + "`", false};
    struct stat status {};
    if (::fstatat(folder, first.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
      fact.found = {path_kind::missing, fact.path, root, {}};
    else if (first == name && !S_ISLNK(status.st_mode))
      fact.found = {kind_of(status.st_mode), fact.path, {}, {}};
    else
      fact.found = look_at(fact.path);
    facts.protected_paths.push_back(std::move(fact));
  }
  ::close(folder);
}

} // namespace

bool is_own(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

path_fact look_at(std::string_view path) {
  path_fact fact;
  std::deque<std::string> rest;
  split_into(rest, path);
  std::string real; // canonical so far, "" for the root
  int links = 0;
  bool is_folder = true;
  mode_t mode = S_IFDIR;
  while (!rest.empty()) {
    const std::string name = std::move(rest.front());
    rest.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      real = real.substr(0, real.rfind('/') == std::string::npos ? 0 : real.rfind('/'));
      continue;
    }
    std::string next = real + "/" + name;
    struct stat status {};
    const bool exists = is_folder && ::lstat(next.c_str(), &status) == 0;
    const int failure = is_folder && !exists ? errno : 0;
    const bool is_link = exists && S_ISLNK(status.st_mode);
    const auto text = is_link && ++links <= max_links ? link_text(next) : std::nullopt;
    if (!exists || (is_link && !text)) {
      fact.existing_folder = real.empty() ? "/" : real;
      fact.unseen = unseen_after(failure, fact.existing_folder, name);
      fact.canonical = std::move(next);
      for (const auto& part : rest)
        fact.canonical += "/" + part;
      fact.canonical = policy::lexically_normal(fact.canonical);
      return fact;
    }
    if (text) {
      fact.links.emplace_back(std::move(next), *text);
      if (text->starts_with('/')) real.clear();
      split_into(rest, *text);
      continue;
    }
    real = std::move(next);
    mode = status.st_mode;
    is_folder = S_ISDIR(mode);
  }
  // A path that ends with `..` ends at a folder already seen.
  fact.canonical = real.empty() ? "/" : real;
  fact.kind = kind_of(mode);
  return fact;
}

host_facts gather_host_facts(const permission_profile& profile,
                             const policy::access_context& context, const walk_limits& limits) {
  host_facts facts;
  const auto& policy_entries = profile.file_system.entries;
  std::set<std::string> roots;          // writable folders, canonical
  std::set<std::string> searched_roots; // … those that a nested repository is looked for in
  for (const auto& entry : policy::resolve_entries(profile.file_system, context)) {
    const auto [at, added] = facts.paths.try_emplace(entry.path);
    if (added) at->second = look_at(entry.path);
    const path_fact fact = at->second;
    if (fact.kind != path_kind::missing)
      facts.paths.try_emplace(fact.canonical, path_fact{fact.kind, fact.canonical, {}, {}});
    if (entry.access != access::write || fact.kind != path_kind::directory) continue;
    roots.insert(fact.canonical);
    if (policy::protects_nested_names(policy_entries[entry.index], fact.canonical))
      searched_roots.insert(fact.canonical);
  }
  for (const auto& root : roots) {
    look_at_protected_names(facts, root, context);
    find_git_parts(facts, root, root);
  }
  for (const auto& root : searched_roots)
    find_git_parts_above(facts, root);
  facts.nested_roots.assign(searched_roots.begin(), searched_roots.end());
  find_nested_names(facts, searched_roots, context.protected_names, limits);
  find_link_targets(facts, roots, limits);
  for (const auto& path : context.protected_paths)
    facts.protected_paths.push_back(
        {path, {}, look_at(path), "protected path `" + path + "`", true});
  walk_globs(facts, policy::resolve_globs(profile.file_system, context),
             profile.file_system.glob_scan_max_depth, limits);
  return facts;
}

policy::access_context with_facts(policy::access_context context, const host_facts& facts) {
  for (const auto& [path, fact] : facts.paths)
    if (fact.canonical != path) context.canonical_paths[path] = fact.canonical;
  for (const auto& place : facts.protected_paths) {
    context.protected_paths.push_back(place.path);
    if (!policy::is_at_or_below(place.root, place.found.canonical))
      context.protected_paths.push_back(place.found.canonical);
  }
  context.nested_roots = facts.nested_roots;
  for (const auto& match : facts.glob_matches)
    if (match.found.canonical != match.path || match.as_spelled)
      context.denied_paths.push_back(match.found.canonical);
  return context;
}

} // namespace gatehouse::sandbox
