#pragma once

#include "actors/audit/audit_sink.hpp"
#include "actors/thread_host.hpp"
#include "config/locations.hpp"
#include "reactor/event_loop.hpp"

#include <memory>
#include <string_view>

namespace gatehouse::cli {

/// Opens the audit as the settings have it; null: they turn it off. Errors: the settings, or it
/// cannot be opened and they do not say that things go on without it; errc::boundary_unavailable
/// where a sandbox of ours around this program is the reason.
/// @param loop outlives it
result<std::shared_ptr<actors::audit_sink>> open_audit(const config::locations& where,
                                                       reactor::event_loop& loop);

/// The same for all threads that `host` opens from here on.
/// @param program "run", "serve", …
result<void> begin_audit(const config::locations& where, actors::thread_host& host,
                         std::string_view program);

} // namespace gatehouse::cli
