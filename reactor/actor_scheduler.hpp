#pragma once

#include "reactor/event_loop.hpp"

#include <chrono>

namespace caf {
class actor_system;
class actor_system_config;
} // namespace caf

namespace gatehouse::reactor {

/// Makes the actor system built from `config` run all its cooperatively scheduled actors on `loop`,
/// on the loop's thread, with the loop's clock: an actor may call anything of the reactor, and a
/// handler of the reactor may send to an actor without a lock. Sends from other threads are posted.
/// `loop` must outlive the system. What CAF prints goes to stderr, since stdout may be a protocol.
/// Never `receive` in a scoped actor on the loop's thread: it would wait for itself.
void run_actors_on(event_loop& loop, caf::actor_system_config& config);

/// Handles events until no actor is left or `guard` has passed in real time; afterwards the system
/// may be destroyed even where an actor is left. Returns whether none is left.
bool run_until_actors_done(event_loop& loop, caf::actor_system& system,
                           std::chrono::milliseconds guard);

} // namespace gatehouse::reactor
