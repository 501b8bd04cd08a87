#pragma once

#include "policy/access.hpp"
#include "protocol/approval_policy.hpp"
#include "protocol/result.hpp"
#include "protocol/tool_call.hpp"

#include <optional>

namespace gatehouse::policy {

/// What a call says about additional permissions, and what is known about it beforehand.
struct overlay_request {
  gatehouse::sandbox_permissions mode = gatehouse::sandbox_permissions::use_default;
  std::optional<additional_permissions> overlay;
  approval_policy approval;
  bool feature_enabled = true;
  bool preapproved = false; ///< wholly inside a sticky grant (§15), see is_covered()
};

/// May this request be made at all (§14)? The error is for the model and says the way out.
/// Errors: errc::invalid_request.
result<void> validate_overlay(const overlay_request& request);

/// Paths normal, duplicates gone, first order kept: equal wishes become equal values.
additional_permissions normalise_overlay(const additional_permissions& overlay);

/// Both together (§15): the network when either has it, all entries, the deeper scan.
additional_permissions merge_overlays(const additional_permissions& base,
                                      const additional_permissions& extra);

/// What was asked for and is granted (§16a): never more than either, every denial of both. Specials
/// become the paths that they mean in `context`, so that a grant does not move with the cwd.
additional_permissions intersect_overlays(const additional_permissions& requested,
                                          const additional_permissions& granted,
                                          const access_context& context);

/// Is `requested` wholly inside `granted` (§15)? Protected names count: a grant of a folder is no
/// grant of the `.git` in it.
bool is_covered(const additional_permissions& requested, const additional_permissions& granted,
                const access_context& context);

/// The profile for one command (§12, §65): only restricted file systems are extended; who enforces
/// does not change. An overlay cannot open what the profile denies: that is an error
/// (errc::invalid_request) that names the entry. `context` as for evaluate_access.
result<permission_profile> apply_overlay(const permission_profile& profile,
                                         const additional_permissions& overlay,
                                         const access_context& context);

} // namespace gatehouse::policy
