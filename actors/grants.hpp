#pragma once

#include "policy/access.hpp"
#include "protocol/approval_policy.hpp"
#include "protocol/review.hpp"
#include "protocol/tool_call.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

/// What a reviewer gave in answer to request_permissions (§16a): never more than was asked.
struct permission_grant {
  std::uint64_t id = 0; ///< for `revoke`; never reused
  std::string environment_id;
  grant_scope scope = grant_scope::turn;
  std::string turn_id; ///< the turn it was given in; ends a grant of turn scope
  additional_permissions permissions;
};

/// May the model ask for permissions at all? Under `never`, or where granular has switched this
/// question off, it gets an empty grant without anybody being asked (§16a, §33, §34).
bool may_request_permissions(const approval_policy& approval) noexcept;

/// What of a wish no grant opens, whatever is answered (§16a, §63): protected names and this
/// program's own folders, but for what the profile itself lets be written.
struct open_wish {
  additional_permissions permissions; ///< the rest, which may be asked for
  std::vector<std::string> closed;    ///< "write /repo/.git (protected name `.git`)"
};
/// `wish` with real paths; `context` as for policy::evaluate_access, with what was found on this
/// host.
open_wish without_protected(const additional_permissions& wish, const permission_profile& profile,
                            const policy::access_context& context);
/// The protection that a write entry for `path` would open; nothing when the profile lets it be
/// written already, or nothing protects it.
std::optional<std::string> protection_of(std::string_view path, const permission_profile& profile,
                                         const policy::access_context& context);

/// `overlay` without the entries that open nothing: what the profile with the others grants anyway
/// is not bound to a name that a command may give to something else.
additional_permissions needed_part(const additional_permissions& overlay,
                                   const permission_profile& profile,
                                   const policy::access_context& context);

/// What of `requested` is granted (§16a): the part that lies inside `given`, with every denial of
/// both, as plain paths of `context`. What the profile itself denies is left out, since no overlay
/// can open it. Empty: nothing is granted.
additional_permissions granted_part(const additional_permissions& requested,
                                    const additional_permissions& given,
                                    const permission_profile& profile,
                                    const policy::access_context& context);

/// The sticky grants of one session (§15). A value; an empty grant is not kept.
class grant_store {
public:
  /// @return the id, 0 when `permissions` grants nothing
  std::uint64_t add(permission_grant grant);
  bool revoke(std::uint64_t id);
  void end_turn(std::string_view turn_id);

  /// Everything that holds for a call of this environment and turn, merged.
  [[nodiscard]] additional_permissions effective(std::string_view environment_id,
                                                 std::string_view turn_id) const;
  /// Oldest first.
  [[nodiscard]] const std::vector<permission_grant>& list() const noexcept { return grants_; }

private:
  std::vector<permission_grant> grants_;
  std::uint64_t next_id_ = 1;
};

/// A call after the grants have been merged into it.
struct granted_call {
  proposal what;
  bool preapproved = false; ///< the overlay lies wholly inside the grants; the command itself does
                            ///< not: it still passes exec policy (§15)
};

/// Merges sticky grants into a call (§15): one that asks for nothing gets them as its overlay,
/// pre-approved; one with an overlay of its own gets both, pre-approved when it is wholly inside
/// the grants. A call that asks to leave the sandbox stays as it is: no grant satisfies it (§16).
granted_call merge_grants(proposal what, const additional_permissions& granted,
                          const policy::access_context& context);

} // namespace gatehouse::actors
