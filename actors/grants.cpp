#include "actors/grants.hpp"

#include "policy/overlay.hpp"
#include "policy/path_text.hpp"
#include "protocol/visible_text.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace gatehouse::actors {
namespace {

/// Does it widen anything? Denials alone grant nothing.
bool grants_something(const additional_permissions& permissions) {
  return permissions.network_enabled.value_or(false) ||
         std::any_of(permissions.entries.begin(), permissions.entries.end(),
                     [](const auto& entry) { return entry.access != access::deny; });
}

} // namespace

bool may_request_permissions(const approval_policy& approval) noexcept {
  switch (approval.mode) {
  case approval_mode::untrusted:
  case approval_mode::on_request: return true;
  case approval_mode::granular: return approval.granular.request_permissions;
  case approval_mode::never: return false;
  }
  return false;
}

std::optional<std::string> protection_of(std::string_view path, const permission_profile& profile,
                                         const policy::access_context& context) {
  const auto answer = policy::evaluate_access(profile, context, path);
  if (answer.granted == access::write) return std::nullopt;
  if (answer.is_protection) return answer.decided_by;
  for (const auto& place : context.protected_paths)
    if (policy::is_at_or_below(path, place)) return "protected path `" + place + "`";
  if (const auto place = policy::find_protected_name(context.protected_names, "/", path))
    return "protected name `" + place->name + "`";
  return std::nullopt;
}

open_wish without_protected(const additional_permissions& wish, const permission_profile& profile,
                            const policy::access_context& context) {
  open_wish open{wish, {}};
  if (profile.kind != profile_kind::managed) return open;
  file_system_policy asked;
  asked.entries = wish.entries;
  std::set<std::size_t> closed;
  for (const auto& entry : policy::resolve_entries(asked, context)) {
    if (entry.access != access::write) continue;
    if (const auto why = protection_of(entry.path, profile, context);
        why && closed.insert(entry.index).second)
      open.closed.push_back("write " + visible_text(entry.path) + " (" + visible_text(*why) + ")");
  }
  open.permissions.entries.clear();
  for (std::size_t i = 0; i < wish.entries.size(); ++i)
    if (!closed.contains(i)) open.permissions.entries.push_back(wish.entries[i]);
  return open;
}

additional_permissions needed_part(const additional_permissions& overlay,
                                   const permission_profile& profile,
                                   const policy::access_context& context) {
  auto needed = overlay;
  for (std::size_t i = 0; i < needed.entries.size();) {
    const auto entry = needed.entries[i];
    const auto* literal = std::get_if<literal_path>(&entry.path);
    auto rest = needed;
    rest.entries.erase(rest.entries.begin() + static_cast<std::ptrdiff_t>(i));
    const auto without = literal && entry.access != access::deny
                             ? policy::apply_overlay(profile, rest, context)
                             : result<permission_profile>{profile};
    const auto answer = literal && entry.access != access::deny && without
                            ? policy::evaluate_access(*without, context, literal->path).granted
                            : access::deny;
    if (answer == access::write || (answer == access::read && entry.access == access::read))
      needed = std::move(rest);
    else
      ++i;
  }
  return needed;
}

additional_permissions granted_part(const additional_permissions& requested,
                                    const additional_permissions& given,
                                    const permission_profile& profile,
                                    const policy::access_context& context) {
  auto part = policy::intersect_overlays(requested, given, context);
  std::erase_if(part.entries, [&](const profile_entry& entry) {
    const auto* literal = std::get_if<literal_path>(&entry.path);
    return literal && entry.access != access::deny &&
           policy::evaluate_access(profile, context, literal->path).denied_explicitly();
  });
  return grants_something(part) ? part : additional_permissions{};
}

std::uint64_t grant_store::add(permission_grant grant) {
  if (!grants_something(grant.permissions)) return 0;
  grant.id = next_id_++;
  grants_.push_back(std::move(grant));
  return grants_.back().id;
}

bool grant_store::revoke(std::uint64_t id) {
  return std::erase_if(grants_, [id](const auto& grant) { return grant.id == id; }) > 0;
}

void grant_store::end_turn(std::string_view turn_id) {
  std::erase_if(grants_, [turn_id](const auto& grant) {
    return grant.scope == grant_scope::turn && grant.turn_id == turn_id;
  });
}

additional_permissions grant_store::effective(std::string_view environment_id,
                                              std::string_view turn_id) const {
  additional_permissions merged;
  for (const auto& grant : grants_)
    if (grant.environment_id == environment_id &&
        (grant.scope == grant_scope::session || grant.turn_id == turn_id))
      merged = policy::merge_overlays(merged, grant.permissions);
  return merged;
}

granted_call merge_grants(proposal what, const additional_permissions& granted,
                          const policy::access_context& context) {
  if (what.sandbox_permissions == sandbox_permissions::require_escalated ||
      !grants_something(granted))
    return {std::move(what), false};
  if (what.sandbox_permissions == sandbox_permissions::use_default) {
    // An overlay without its mode is for the handler to refuse (§14), not for a grant to mend.
    if (what.additional_permissions) return {std::move(what), false};
    what.sandbox_permissions = sandbox_permissions::with_additional_permissions;
    what.additional_permissions = granted;
    return {std::move(what), true};
  }
  if (!what.additional_permissions || what.additional_permissions->empty())
    return {std::move(what), false};
  const bool inside = policy::is_covered(*what.additional_permissions, granted, context);
  what.additional_permissions = policy::merge_overlays(granted, *what.additional_permissions);
  return {std::move(what), inside};
}

} // namespace gatehouse::actors
