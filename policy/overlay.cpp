#include "policy/overlay.hpp"

#include "policy/path_text.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::policy {
namespace {

using entries = std::vector<profile_entry>;

error refused(std::string message, std::string remedy) {
  return {errc::invalid_request, std::move(message), std::move(remedy)};
}

bool is_glob(const profile_entry& entry) {
  return std::holds_alternative<glob_path>(entry.path);
}

void add_missing(entries& list, const profile_entry& entry) {
  if (std::find(list.begin(), list.end(), entry) == list.end()) list.push_back(entry);
}

bool has_glob(const entries& list) {
  return std::any_of(list.begin(), list.end(), is_glob);
}

using depth = std::optional<std::uint32_t>;

/// The depth that leaves out nothing either side wants scanned; a side without globs wants nothing.
depth merged_depth(const entries& a, depth a_depth, const entries& b, depth b_depth) {
  if (!has_glob(a) && !has_glob(b)) return std::nullopt;
  if (!has_glob(b)) return a_depth;
  if (!has_glob(a)) return b_depth;
  return a_depth && b_depth ? depth{std::max(*a_depth, *b_depth)} : std::nullopt;
}

permission_profile as_profile(const additional_permissions& overlay) {
  permission_profile profile;
  profile.file_system.entries = overlay.entries;
  return profile;
}

/// Nothing, reading or both, as a number that can be compared.
int reach(const permission_profile& profile, const access_context& context, std::string_view path) {
  switch (evaluate_access(profile, context, path).granted) {
  case access::read: return 1;
  case access::write: return 2;
  case access::deny: return 0;
  }
  return 0;
}

int reach_of(access granted) {
  return granted == access::write ? 2 : 1;
}

/// Adds the entries of `from` that grant no more than `limit` does at their path, as plain paths.
void add_within(entries& list, const additional_permissions& from, const permission_profile& limit,
                const access_context& context) {
  for (const auto& entry : resolve_entries(as_profile(from).file_system, context))
    if (entry.access != access::deny && reach(limit, context, entry.path) >= reach_of(entry.access))
      add_missing(list, {literal_path{entry.path}, entry.access, false});
}

void add_denials(entries& list, const additional_permissions& from, const access_context& context) {
  const auto policy = as_profile(from).file_system;
  for (const auto& entry : resolve_entries(policy, context))
    if (entry.access == access::deny)
      add_missing(list, {literal_path{entry.path}, access::deny, false});
  for (const auto& glob : resolve_globs(policy, context))
    add_missing(list, {glob_path{glob.pattern()}, access::deny, false});
}

} // namespace

result<void> validate_overlay(const overlay_request& request) {
  const bool asked = request.mode == sandbox_permissions::with_additional_permissions;
  if (!asked && !request.overlay) return {};
  if (!asked)
    return refused("additional_permissions was given with sandbox_permissions `" +
                       std::string{to_string(request.mode)} + "`",
                   "set sandbox_permissions to `with_additional_permissions`, or leave "
                   "additional_permissions out");
  if (!request.feature_enabled)
    return refused("additional permissions are switched off in the configuration",
                   "use sandbox_permissions `use_default`");
  if (!request.overlay || request.overlay->empty())
    return refused("sandbox_permissions is `with_additional_permissions`, but "
                   "additional_permissions names neither network nor file system",
                   "say in additional_permissions what is needed, or use `use_default`");
  for (const auto& entry : request.overlay->entries)
    if (is_glob(entry) && entry.access != access::deny)
      return refused("additional_permissions: the glob `" + describe(entry.path) + "` asks for " +
                         std::string{to_string(entry.access)} + ", and a glob may only deny",
                     "name the folder itself");
  if (request.approval.mode != approval_mode::on_request && !request.preapproved)
    return refused("the approval policy of this session allows no question about additional "
                   "permissions",
                   "use sandbox_permissions `use_default` and work inside the boundary");
  return {};
}

additional_permissions normalise_overlay(const additional_permissions& overlay) {
  additional_permissions normal{overlay.network_enabled, {}, overlay.glob_scan_max_depth};
  for (auto entry : overlay.entries) {
    if (auto* literal = std::get_if<literal_path>(&entry.path);
        literal && literal->path.starts_with('/'))
      literal->path = lexically_normal(literal->path);
    add_missing(normal.entries, entry);
  }
  if (!has_glob(normal.entries)) normal.glob_scan_max_depth.reset();
  return normal;
}

additional_permissions merge_overlays(const additional_permissions& base,
                                      const additional_permissions& extra) {
  additional_permissions merged;
  if (base.network_enabled.value_or(false) || extra.network_enabled.value_or(false))
    merged.network_enabled = true;
  for (const auto* side : {&base, &extra})
    for (const auto& entry : side->entries)
      add_missing(merged.entries, entry);
  merged.glob_scan_max_depth = merged_depth(base.entries, base.glob_scan_max_depth, extra.entries,
                                            extra.glob_scan_max_depth);
  return merged;
}

additional_permissions intersect_overlays(const additional_permissions& requested,
                                          const additional_permissions& granted,
                                          const access_context& context) {
  additional_permissions both;
  if (requested.network_enabled.value_or(false) && granted.network_enabled.value_or(false))
    both.network_enabled = true;
  add_within(both.entries, granted, as_profile(requested), context);
  add_within(both.entries, requested, as_profile(granted), context);
  if (both.entries.empty()) return both;
  add_denials(both.entries, requested, context);
  add_denials(both.entries, granted, context);
  both.glob_scan_max_depth = merged_depth(requested.entries, requested.glob_scan_max_depth,
                                          granted.entries, granted.glob_scan_max_depth);
  return both;
}

bool is_covered(const additional_permissions& requested, const additional_permissions& granted,
                const access_context& context) {
  if (requested.network_enabled.value_or(false) && !granted.network_enabled.value_or(false))
    return false;
  const auto wish = as_profile(requested);
  const auto grant = as_profile(granted);
  // Between the paths of the entries and the protected places below them nothing changes.
  std::vector<std::string> turns;
  for (const auto* side : {&wish, &grant})
    for (const auto& entry : resolve_entries(side->file_system, context)) {
      turns.push_back(entry.path);
      if (entry.access == access::write)
        for (const auto& name : context.protected_names)
          turns.push_back(absolute_below(entry.path, name));
    }
  turns.insert(turns.end(), context.protected_paths.begin(), context.protected_paths.end());
  const bool inside = std::all_of(turns.begin(), turns.end(), [&](const std::string& path) {
    return reach(wish, context, path) <= reach(grant, context, path);
  });
  const auto wish_globs = resolve_globs(wish.file_system, context);
  const auto grant_globs = resolve_globs(grant.file_system, context);
  const bool same_denials =
      std::all_of(grant_globs.begin(), grant_globs.end(), [&](const resolved_glob& glob) {
        return std::any_of(wish_globs.begin(), wish_globs.end(), [&](const resolved_glob& own) {
          return own.pattern() == glob.pattern();
        });
      });
  const bool wants_files =
      std::any_of(wish.file_system.entries.begin(), wish.file_system.entries.end(),
                  [](const profile_entry& e) { return e.access != access::deny; });
  return inside && (same_denials || !wants_files);
}

result<permission_profile> apply_overlay(const permission_profile& profile,
                                         const additional_permissions& overlay,
                                         const access_context& context) {
  auto widened = profile;
  if (profile.kind != profile_kind::disabled && overlay.network_enabled)
    widened.network =
        *overlay.network_enabled ? network_policy::enabled : network_policy::restricted;
  if (profile.kind != profile_kind::managed || !profile.file_system.restricted) return widened;

  const auto wish = as_profile(overlay);
  for (const auto& entry : resolve_entries(wish.file_system, context)) {
    if (entry.access == access::deny) continue;
    const auto answer = evaluate_access(profile, context, entry.path);
    if (answer.denied_explicitly())
      return refused("additional_permissions: `" + entry.path + "` is refused by " +
                         answer.decided_by + ", which no overlay can open",
                     "leave it out; only a change of the session's profile opens it");
  }
  auto& file_system = widened.file_system;
  for (const auto& entry : overlay.entries)
    add_missing(file_system.entries, entry);
  file_system.glob_scan_max_depth =
      merged_depth(profile.file_system.entries, profile.file_system.glob_scan_max_depth,
                   overlay.entries, overlay.glob_scan_max_depth);
  return widened;
}

} // namespace gatehouse::policy
