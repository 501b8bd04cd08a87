#pragma once

#include "config/locations.hpp"
#include "config/settings.hpp"
#include "protocol/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::config {

/// What becomes of a call when the audit cannot be written (§205).
enum class audit_failure : std::uint8_t {
  refuse, ///< nothing runs
  warn,   ///< it is said, and the call goes on
};
/// "refuse", "warn".
std::string_view to_string(audit_failure f) noexcept;

/// `[audit]` of the system's and the user's config.toml, the user's last; then that of
/// requirements.toml, which only tightens: more is recorded, and for longer. Nothing else may set
/// it: what an agent may write must not shorten or loosen the audit.
struct audit_settings {
  setting<bool> enabled{true, {}}; ///< false: nothing is recorded
  setting<audit_failure> on_failure{audit_failure::refuse, {}};
  setting<bool> flush{false, {}};                ///< every entry waits for the disk itself
  setting<std::int64_t> keep_days{90, {}};       ///< 0: for ever
  setting<std::int64_t> keep_megabytes{256, {}}; ///< 0: without limit
  std::vector<std::string> warnings;             ///< unknown keys, values that were replaced
};
/// Errors name file, line and value; in requirements.toml also a key that is not understood.
result<audit_settings> load_audit_settings(const locations& where);

} // namespace gatehouse::config
