#pragma once

#include "reactor/event_loop.hpp"
#include "reactor/ports.hpp"

#include <memory>

namespace gatehouse::reactor {

/// The resolver of the operating system. A look-up blocks and cannot be stopped, so that each has a
/// thread that nobody waits for. Too many waiting names count as not found.
std::shared_ptr<host_resolver> system_resolver(event_loop& loop);

/// `of` for one of its users: only so many look-ups of this one are under way at a time that a
/// silent name server does not keep the others waiting.
std::shared_ptr<host_resolver> fair_share(std::shared_ptr<host_resolver> of);

} // namespace gatehouse::reactor
