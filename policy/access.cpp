#include "policy/access.hpp"

#include "policy/glob.hpp"
#include "policy/path_text.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace gatehouse::policy {
namespace {

constexpr std::string_view no_entry = "no entry";

std::string quoted(std::string_view text) {
  return "`" + std::string{text} + "`";
}

std::string describe_entry(const profile_entry& entry) {
  return quoted(describe(entry.path)) + " " + std::string{to_string(entry.access)};
}

/// A deny of a special name that this version does not know, or of a path of another platform,
/// cannot be placed here, so that it denies everything, as an invalid glob does.
bool is_unplaceable_deny(const profile_entry& entry) {
  if (entry.access != access::deny) return false;
  if (const auto* literal = std::get_if<literal_path>(&entry.path))
    return !literal->path.starts_with('/');
  const auto* special = std::get_if<special_path>(&entry.path);
  return special && special->kind == special_kind::unknown;
}

/// The denial that stands above all entries: globs (§64), link targets, what cannot be placed.
std::optional<access_answer> find_denial(const file_system_policy& policy,
                                         const access_context& context, std::string_view path) {
  for (std::size_t i = 0; i < policy.entries.size(); ++i)
    if (is_unplaceable_deny(policy.entries[i]))
      return access_answer{
          access::deny, describe_entry(policy.entries[i]) + ", which is not understood", false, i};
  for (const auto& glob : resolve_globs(policy, context)) {
    const auto& entry = policy.entries[glob.index];
    if (entry.access != access::deny)
      return access_answer{access::deny, describe_entry(entry) + ": a glob may only deny", false,
                           glob.index};
    const auto compiled = path_glob::compile(glob.pattern());
    if (!compiled)
      return access_answer{access::deny, "invalid deny glob " + quoted(describe(entry.path)), false,
                           glob.index};
    if (compiled->matches_at_or_above(path))
      return access_answer{access::deny, describe_entry(entry), false, glob.index};
  }
  for (const auto& denied : context.denied_paths)
    if (is_at_or_below(path, denied))
      return access_answer{access::deny, "denied through a link to " + quoted(denied), false, {}};
  return std::nullopt;
}

/// The name or path that takes write away from `path`, or empty.
std::string find_protection(const std::vector<resolved_entry>& entries,
                            const access_context& context, std::string_view path) {
  for (const auto& entry : entries) {
    if (entry.access != access::write || !is_below(path, entry.path)) continue;
    for (const auto& name : context.protected_names) {
      const auto place = absolute_below(entry.path, name);
      if (is_at_or_below(path, place) && !opened_by_entry(entries, place, path))
        return "protected name " + quoted(name);
    }
  }
  for (const auto& root : context.nested_roots)
    if (const auto place = find_protected_name(context.protected_names, root, path);
        place && !opened_by_entry(entries, place->path, path))
      return "protected name " + quoted(place->name);
  for (const auto& place : context.protected_paths)
    if (is_at_or_below(path, place) && !opened_by_entry(entries, place, path))
      return "protected path " + quoted(place);
  return {};
}

} // namespace

const std::vector<std::string>& default_protected_names() {
  static const std::vector<std::string> names{
      // repositories and the state of agents
      ".git", ".agents", ".codex", ".gatehouse", ".claude", ".gemini", ".cursor", ".mcp.json",
      // what a git folder opened for commits still keeps for its worktrees
      "commondir", "config.worktree",
      // credentials
      ".aws", ".ssh", ".gnupg", ".netrc", ".gitconfig", ".config/git",
      // files that editors and hook runners execute without a question
      ".vscode", ".idea", ".husky", ".github/hooks", ".envrc",
      // shell start-up files
      ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
      ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc"};
  return names;
}

bool holds_installed_packages(std::string_view folder_name) noexcept {
  return folder_name == "node_modules" || folder_name == "__pycache__";
}

bool protects_nested_names(const profile_entry& entry, std::string_view resolved_path) noexcept {
  if (resolved_path == "/" || entry.access != access::write) return false;
  const auto* special = std::get_if<special_path>(&entry.path);
  return special ? special->kind == special_kind::project_roots
                 : std::holds_alternative<literal_path>(entry.path);
}

std::optional<protected_place> find_protected_name(const std::vector<std::string>& names,
                                                   std::string_view root, std::string_view path) {
  if (!is_below(path, root)) return std::nullopt;
  std::size_t at = root == "/" ? 1 : root.size() + 1; // where a component begins
  while (at < path.size()) {
    const auto rest = path.substr(at);
    for (const auto& name : names)
      if (rest.starts_with(name) && (rest.size() == name.size() || rest[name.size()] == '/'))
        return protected_place{std::string{path.substr(0, at + name.size())}, name};
    const auto end = std::min(rest.find('/'), rest.size());
    if (holds_installed_packages(rest.substr(0, end))) return std::nullopt;
    at += end + 1;
  }
  return std::nullopt;
}

const std::vector<std::string>& minimal_paths() {
  static const std::vector<std::string> paths{
      "/bin", "/sbin", "/usr", "/etc", "/lib", "/lib64", "/nix/store", "/run/current-system/sw",
      // what /etc/resolv.conf links to
      "/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf"};
  return paths;
}

std::vector<resolved_entry> resolve_entries(const file_system_policy& policy,
                                            const access_context& context) {
  std::vector<resolved_entry> resolved;
  for (std::size_t i = 0; i < policy.entries.size(); ++i) {
    const auto& entry = policy.entries[i];
    const auto add = [&](std::string path) {
      if (const auto real = context.canonical_paths.find(path);
          real != context.canonical_paths.end())
        resolved.push_back({real->second, entry.access, i});
      resolved.push_back({std::move(path), entry.access, i});
    };
    if (const auto* literal = std::get_if<literal_path>(&entry.path)) {
      if (literal->path.starts_with('/')) add(lexically_normal(literal->path));
    } else if (const auto* special = std::get_if<special_path>(&entry.path)) {
      switch (special->kind) {
      case special_kind::root: add("/"); break;
      case special_kind::minimal:
        for (const auto& path : minimal_paths())
          add(path);
        break;
      case special_kind::project_roots:
        for (const auto& root : context.project_roots)
          add(absolute_below(root, special->subpath.empty() ? "." : special->subpath));
        break;
      case special_kind::tmpdir:
        // $TMPDIR comes from an environment: it may not hand over the whole file system.
        if (context.tmpdir.starts_with('/') && lexically_normal(context.tmpdir) != "/")
          add(lexically_normal(context.tmpdir));
        break;
      case special_kind::slash_tmp:
        if (context.slash_tmp_is_directory) add("/tmp");
        break;
      case special_kind::unknown: break;
      }
    }
  }
  return resolved;
}

std::vector<resolved_glob> resolve_globs(const file_system_policy& policy,
                                         const access_context& context) {
  std::vector<resolved_glob> globs;
  const auto add = [&](std::string folder, const std::string& rest, std::size_t index) {
    if (const auto real = context.canonical_paths.find(folder);
        real != context.canonical_paths.end())
      globs.push_back({real->second, rest, index});
    globs.push_back({std::move(folder), rest, index});
  };
  std::set<std::string> bases{lexically_normal(context.cwd)};
  for (const auto& root : context.project_roots)
    bases.insert(lexically_normal(root));
  for (std::size_t i = 0; i < policy.entries.size(); ++i) {
    const auto* glob = std::get_if<glob_path>(&policy.entries[i].path);
    if (!glob) continue;
    const bool absolute = glob->pattern.starts_with('/');
    const auto split = split_literal_folder(absolute ? glob->pattern : "/" + glob->pattern);
    if (absolute)
      add(split.folder, split.rest, i);
    else
      for (const auto& base : bases)
        add(lexically_normal(base + split.folder), split.rest, i);
  }
  return globs;
}

std::string resolved_glob::pattern() const {
  return (folder == "/" ? "" : escape_glob(folder)) + "/" + rest;
}

bool access_answer::denied_explicitly() const noexcept {
  return granted == access::deny && decided_by != no_entry;
}

bool opened_by_entry(const std::vector<resolved_entry>& entries, std::string_view protected_path,
                     std::string_view path) {
  return std::any_of(entries.begin(), entries.end(), [&](const resolved_entry& e) {
    return e.access == access::write && is_at_or_below(e.path, protected_path) &&
           is_at_or_below(path, e.path);
  });
}

access_answer evaluate_access(const permission_profile& profile, const access_context& context,
                              std::string_view asked) {
  if (profile.kind != profile_kind::managed || !profile.file_system.restricted)
    return {access::write, "a profile without file-system limits", false, {}};
  if (!asked.starts_with('/')) return {access::deny, "not an absolute path", false, {}};
  const auto path = lexically_normal(asked);
  if (auto denial = find_denial(profile.file_system, context, path)) return *std::move(denial);

  const auto entries = resolve_entries(profile.file_system, context);
  const resolved_entry* winner = nullptr;
  const auto rank = [](const resolved_entry& e) {
    return std::pair{component_count(e.path), e.access};
  };
  for (const auto& entry : entries)
    if (is_at_or_below(path, entry.path) && (!winner || rank(entry) > rank(*winner)))
      winner = &entry;
  if (!winner) return {access::deny, std::string{no_entry}, false, {}};

  access_answer answer{winner->access, describe_entry(profile.file_system.entries[winner->index]),
                       false, winner->index};
  if (answer.granted == access::write)
    if (auto protection = find_protection(entries, context, path); !protection.empty())
      answer = {access::read, std::move(protection), true, {}};
  return answer;
}

} // namespace gatehouse::policy
