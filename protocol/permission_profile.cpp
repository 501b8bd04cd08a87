#include "protocol/permission_profile.hpp"

#include <algorithm>
#include <array>

namespace gatehouse {
namespace {

profile_entry special(special_kind kind, access a) {
  return {special_path{kind, {}, {}}, a, false};
}

/// Parts of a git folder that commands do not write under the preset `git`.
constexpr std::array<std::string_view, 11> kept_git_parts{
    "config",  "config.worktree", "hooks",     "info",         "commondir",   "modules",
    "remotes", "branches",        "sequencer", "rebase-merge", "rebase-apply"};

std::string_view special_name(special_kind kind) noexcept {
  switch (kind) {
  case special_kind::root: return ":root";
  case special_kind::minimal: return ":minimal";
  case special_kind::project_roots: return ":project_roots";
  case special_kind::tmpdir: return ":tmpdir";
  case special_kind::slash_tmp: return ":slash_tmp";
  case special_kind::unknown: return ":unknown";
  }
  return ":unknown";
}

} // namespace

std::string_view to_string(access a) noexcept {
  switch (a) {
  case access::read: return "read";
  case access::write: return "write";
  case access::deny: return "deny";
  }
  return "deny";
}

permission_profile read_only_profile() {
  permission_profile profile;
  profile.file_system.entries = {special(special_kind::root, access::read)};
  return profile;
}

permission_profile workspace_write_profile() {
  permission_profile profile;
  profile.file_system.entries = {special(special_kind::root, access::read),
                                 special(special_kind::project_roots, access::write),
                                 special(special_kind::tmpdir, access::write),
                                 special(special_kind::slash_tmp, access::write)};
  return profile;
}

permission_profile danger_full_access_profile() {
  permission_profile profile;
  profile.kind = profile_kind::disabled;
  profile.file_system.restricted = false;
  profile.network = network_policy::enabled;
  return profile;
}

std::vector<profile_entry> git_preset_entries() {
  const auto below = [](std::string subpath, access a) {
    return profile_entry{special_path{special_kind::project_roots, std::move(subpath), {}}, a,
                         true};
  };
  std::vector<profile_entry> entries{below(".git", access::write)};
  for (const auto part : kept_git_parts)
    entries.push_back(below(".git/" + std::string{part}, access::read));
  return entries;
}

std::vector<profile_entry> git_preset_entries_at(const std::string& git_folder) {
  std::vector<profile_entry> entries{{literal_path{git_folder}, access::write, true}};
  for (const auto part : kept_git_parts)
    entries.push_back({literal_path{git_folder + "/" + std::string{part}}, access::read, true});
  return entries;
}

std::optional<permission_profile> built_in_profile(std::string_view name) {
  if (name == "read-only" || name == ":read-only") return read_only_profile();
  if (name == "workspace-write" || name == ":workspace") return workspace_write_profile();
  if (name == "danger-full-access" || name == ":danger-full-access")
    return danger_full_access_profile();
  return std::nullopt;
}

bool has_denied_reads(const permission_profile& profile) noexcept {
  if (profile.kind != profile_kind::managed || !profile.file_system.restricted) return false;
  const auto& entries = profile.file_system.entries;
  return std::any_of(entries.begin(), entries.end(),
                     [](const profile_entry& e) { return e.access == access::deny; });
}

std::string describe(const profile_path& path) {
  if (const auto* literal = std::get_if<literal_path>(&path)) return literal->path;
  if (const auto* glob = std::get_if<glob_path>(&path)) return glob->pattern;
  const auto& special = std::get<special_path>(path);
  std::string text{special.kind == special_kind::unknown && !special.name.empty()
                       ? std::string_view{special.name}
                       : special_name(special.kind)};
  if (!special.subpath.empty()) text += "/" + special.subpath;
  return text;
}

} // namespace gatehouse
