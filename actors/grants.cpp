#include "actors/grants.hpp"

#include "policy/overlay.hpp"

#include <algorithm>
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
