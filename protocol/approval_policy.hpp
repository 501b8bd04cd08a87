#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse {

/// May a review be asked for (§2, §30)? It never says what is allowed, only who may be asked.
enum class approval_mode : std::uint8_t {
  untrusted,  ///< only simple known-safe commands run unasked (§31)
  on_request, ///< the default: the sandbox first, a question where one is due (§32)
  granular,   ///< as on_request, each kind of question switched on or off (§34)
  never,      ///< no question: what would need one is forbidden (§33)
};

/// Which kinds of question `granular` may ask; a switch that is off means forbidden (§34, §D6).
struct granular_switches {
  bool sandbox_approval = false;
  bool rules = false;
  bool skill_approval = false;
  bool request_permissions = false;
  bool mcp_elicitations = false;

  bool operator==(const granular_switches&) const = default;
};

struct approval_policy {
  approval_mode mode = approval_mode::on_request;
  granular_switches granular{}; ///< meaningful only in mode `granular`

  bool operator==(const approval_policy&) const = default;
};

/// "untrusted", "on-request", "granular", "never".
std::string_view to_string(approval_mode m) noexcept;

/// The policy with this name: "untrusted" (also "unless-trusted"), "on-request" (also the old
/// "on-failure"), "never" (§30). `granular` has no plain name: its switches must be given.
std::optional<approval_policy> approval_policy_from(std::string_view name) noexcept;

/// "on-request", or "granular (rules, sandbox_approval)" with the switches that are on: for people.
std::string describe(const approval_policy& policy);

} // namespace gatehouse
