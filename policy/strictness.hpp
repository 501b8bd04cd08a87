#pragma once

#include "policy/domain_policy.hpp"
#include "protocol/approval_policy.hpp"
#include "protocol/permission_profile.hpp"

#include <optional>

namespace gatehouse::policy {

/// True when `a` surely runs or lets through nothing that `b` would ask about or forbid (§43).
/// A partial order: policies that cannot be compared (never and untrusted, say) answer false.
bool is_no_looser(const approval_policy& a, const approval_policy& b) noexcept;

/// True when `a` surely grants nothing that `b` does not (§43). Sound, not complete: two profiles
/// that are spelled too differently to be compared answer false.
bool is_no_wider(const permission_profile& a, const permission_profile& b);

/// True when `a` surely lets no connection through that `b` would ask about or refuse. Unset: the
/// network, where it is on, is not managed.
bool is_no_wider(const std::optional<domain_policy>& a, const std::optional<domain_policy>& b);

} // namespace gatehouse::policy
