#include "config/profile_resolver.hpp"

#include "policy/strictness.hpp"

#include <algorithm>

namespace gatehouse::config {
namespace {

error profile_error(const origin& where, const std::string& what, std::string remedy) {
  const auto place = where.file.empty() ? std::string{} : describe(where) + ": ";
  return {errc::invalid_profile, place + what, std::move(remedy)};
}

/// What a chain of definitions adds up to.
struct folded {
  permission_profile profile;
  std::optional<policy::domain_policy> network;
  std::vector<std::pair<std::string, bool>> workspace_roots;
  origin from;
  layer highest = layer::built_in; ///< of all definitions in the chain
};

void put(std::vector<profile_entry>& entries, const profile_entry& entry, std::size_t inherited) {
  // A child's entry replaces the parent's for the same path; two of its own both stand.
  const auto end = entries.begin() + static_cast<std::ptrdiff_t>(inherited);
  const auto same =
      std::find_if(entries.begin(), end, [&](const auto& e) { return e.path == entry.path; });
  if (same != end)
    *same = entry;
  else
    entries.push_back(entry);
}

/// A child's rule replaces the parent's for the same pattern.
void put(std::optional<policy::domain_policy>& into, const network_definition& network) {
  if (!into) into.emplace();
  if (network.limited) into->limited = *network.limited;
  if (network.local_binding) into->local_binding = *network.local_binding;
  for (const auto& rule : network.domains) {
    std::erase_if(into->rules, [&](const auto& r) { return r.pattern == rule.pattern; });
    into->rules.push_back(rule);
  }
}

/// Grants nothing that `b` does not, on disk and on the network.
bool stays_within(const folded& a, const folded& b) {
  return policy::is_no_wider(a.profile, b.profile) && policy::is_no_wider(a.network, b.network);
}

result<folded> fold(const effective_settings& settings, std::string_view name,
                    std::vector<std::string>& chain) {
  if (auto built_in = built_in_profile(name)) return folded{std::move(*built_in), {}, {}, {}};
  const auto at = settings.profiles.find(name);
  if (at == settings.profiles.end()) {
    std::string known = "read-only, workspace-write, danger-full-access";
    for (const auto& [other, definition] : settings.profiles)
      known += ", " + other;
    return error{errc::invalid_profile,
                 "there is no permission profile `" + std::string{name} + "`",
                 "Use one of " + known + ", or define [permissions." + std::string{name} +
                     "] in config.toml."};
  }
  const auto& definition = at->second;
  const bool cycle = std::find(chain.begin(), chain.end(), definition.name) != chain.end();
  chain.push_back(definition.name);
  if (cycle) {
    std::string text;
    for (const auto& link : chain)
      text += (text.empty() ? "" : " -> ") + link;
    return profile_error(definition.from, "permission profiles extend each other: " + text,
                         "Remove one `extends`.");
  }
  folded base;
  if (!definition.extends.empty()) {
    const auto built_in = built_in_profile(definition.extends);
    if (built_in && built_in->kind != profile_kind::managed)
      return profile_error(definition.from, "`" + definition.extends + "` cannot be extended",
                           "Extend read-only or workspace-write.");
    auto parent = fold(settings, definition.extends, chain);
    if (!parent) {
      auto failure = parent.error();
      failure.message = describe(definition.from) + ": " + failure.message;
      return failure;
    }
    base = std::move(*parent);
  }
  const auto inherited = base.profile.file_system.entries.size();
  for (const auto& entry : definition.entries)
    put(base.profile.file_system.entries, entry, inherited);
  if (definition.glob_scan_max_depth)
    base.profile.file_system.glob_scan_max_depth = definition.glob_scan_max_depth;
  if (definition.network_enabled)
    base.profile.network =
        *definition.network_enabled ? network_policy::enabled : network_policy::restricted;
  if (definition.network) put(base.network, *definition.network);
  for (const auto& [path, on] : definition.workspace_roots) {
    std::erase_if(base.workspace_roots,
                  [&path = path](const auto& root) { return root.first == path; });
    base.workspace_roots.emplace_back(path, on);
  }
  base.from = definition.from;
  base.highest = std::max(base.highest, definition.from.from);
  return base;
}

result<std::string> root_path(const std::string& path, const std::string& base,
                              const std::string& home, const origin& where) {
  std::string text = path;
  if (path == "~" || path.starts_with("~/")) text = home + path.substr(1);
  if (!text.starts_with('/')) text = base + "/" + text;
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('/', at), text.size());
    const auto part = text.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." || part.find('\0') != std::string::npos)
      return profile_error(where, "the workspace root `" + path + "` holds `..` or a NUL byte",
                           "Write the path without it.");
    clean += "/" + part;
  }
  return clean.empty() ? std::string{"/"} : clean;
}

result<void> check_allowed(const effective_settings& settings, const folded& whole,
                           std::string_view name) {
  const auto& allowed = settings.required.allowed_profiles;
  if (allowed.empty()) return {};
  for (const auto& candidate : allowed) {
    std::vector<std::string> chain;
    const auto ceiling = fold(settings, candidate.value, chain);
    // A name whose meaning a user or project can change limits nothing.
    if (!ceiling || ceiling->highest > layer::system) continue;
    if (canonical_profile_name(candidate.value) == name) return {};
    if (stays_within(whole, *ceiling)) return {};
  }
  std::string names;
  for (const auto& candidate : allowed)
    names += (names.empty() ? "" : ", ") + candidate.value;
  return profile_error(allowed.front().from,
                       name.empty() ? std::string{"the given profile object is not allowed"}
                                    : "the profile `" + std::string{name} + "` is not allowed",
                       "Allowed here: " + names + ".");
}

} // namespace

std::string canonical_profile_name(std::string_view name) {
  if (name == ":read-only") return "read-only";
  if (name == ":workspace") return "workspace-write";
  if (name == ":danger-full-access") return "danger-full-access";
  return std::string{name};
}

result<permission_profile> deny_reads(permission_profile profile,
                                      const std::vector<setting<profile_entry>>& all_denied) {
  if (all_denied.empty()) return profile;
  if (profile.kind == profile_kind::external)
    return profile_error(all_denied.front().from,
                         "an external sandbox cannot be told the reads that are denied here",
                         "Use a managed profile.");
  // What was unrestricted keeps all but the denied reads, and needs a sandbox for that.
  if (profile.kind == profile_kind::disabled || !profile.file_system.restricted) {
    profile.kind = profile_kind::managed;
    profile.file_system.restricted = true;
    profile.file_system.entries = {
        {special_path{special_kind::root, {}, {}}, access::write, false}};
  }
  auto& entries = profile.file_system.entries;
  for (const auto& denied : all_denied) {
    // A narrower entry would open the path again: what is below a denied path goes.
    if (const auto* literal = std::get_if<literal_path>(&denied.value.path)) {
      const auto below = literal->path == "/" ? literal->path : literal->path + "/";
      std::erase_if(entries, [&](const profile_entry& e) {
        const auto* path = std::get_if<literal_path>(&e.path);
        return path && e.access != access::deny &&
               (path->path == literal->path || path->path.starts_with(below));
      });
    } else {
      profile.file_system.glob_scan_max_depth.reset();
    }
    entries.push_back(denied.value);
  }
  return profile;
}

result<resolved_profile> resolve_profile(const effective_settings& settings, std::string_view name,
                                         const std::vector<std::string>& project_roots,
                                         const std::string& user_home) {
  const auto canonical = canonical_profile_name(name);
  std::vector<std::string> chain;
  auto whole = fold(settings, canonical, chain);
  if (!whole) return whole.error();
  if (whole->highest >= layer::project) {
    chain.clear();
    const auto ceiling = fold(settings, settings.project_ceiling, chain);
    if (!ceiling) return ceiling.error();
    if (!whole->workspace_roots.empty() || !stays_within(*whole, *ceiling))
      return profile_error(whole->from,
                           "the project's profile `" + canonical + "` is not surely within `" +
                               settings.project_ceiling + "`, and a project may only tighten",
                           "Define the profile in your own config.toml.");
  }
  if (const auto allowed = check_allowed(settings, *whole, canonical); !allowed)
    return allowed.error();
  resolved_profile resolved;
  resolved.name = canonical;
  resolved.from = whole->from;
  resolved.project_roots = project_roots;
  for (const auto& [path, on] : whole->workspace_roots) {
    if (!on) continue;
    auto root = root_path(path, project_roots.front(), user_home, whole->from);
    if (!root) return root.error();
    auto& roots = resolved.project_roots;
    if (std::find(roots.begin(), roots.end(), *root) == roots.end())
      roots.push_back(std::move(*root));
  }
  auto profile = deny_reads(std::move(whole->profile), settings.required.denied_reads);
  if (!profile) return profile.error();
  resolved.profile = std::move(*profile);
  resolved.network = std::move(whole->network);
  return resolved;
}

result<permission_profile> constrain_profile(const effective_settings& settings,
                                             permission_profile profile) {
  if (const auto allowed = check_allowed(settings, {profile, {}, {}, {}}, {}); !allowed)
    return allowed.error();
  return deny_reads(std::move(profile), settings.required.denied_reads);
}

} // namespace gatehouse::config
