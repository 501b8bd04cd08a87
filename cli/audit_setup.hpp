#pragma once

#include "actors/audit/audit_sink.hpp"
#include "config/locations.hpp"
#include "config/settings.hpp"
#include "reactor/event_loop.hpp"

#include <memory>

namespace gatehouse::cli {

/// The audit of this program; all of its threads write through one. Errors: it cannot be opened,
/// and the settings do not say that things go on without it.
/// @param loop outlives it
result<std::shared_ptr<actors::audit_sink>> open_audit(const config::locations& where,
                                                       const config::effective_settings& settings,
                                                       reactor::event_loop& loop);

} // namespace gatehouse::cli
