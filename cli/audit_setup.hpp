#pragma once

#include "actors/audit/audit_sink.hpp"
#include "config/locations.hpp"
#include "reactor/event_loop.hpp"

#include <memory>

namespace gatehouse::cli {

/// Opens the audit as the user's settings have it. Errors: the settings, or it cannot be opened and
/// they do not say that things go on without it.
/// @param loop outlives it
result<std::shared_ptr<actors::audit_sink>> open_audit(const config::locations& where,
                                                       reactor::event_loop& loop);

/// The same for the threads of this program, once for all of them (set_program_audit).
result<void> begin_program_audit(const config::locations& where, reactor::event_loop& loop,
                                 std::string_view program);

} // namespace gatehouse::cli
