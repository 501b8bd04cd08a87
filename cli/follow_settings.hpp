#pragma once

#include "actors/thread_terms.hpp"
#include "cli/thread_setup.hpp"
#include "config/live_rules.hpp"

#include <functional>
#include <memory>

namespace gatehouse::cli {

/// Lets a thread follow its configuration: from the call after a change on it works under what
/// `reopen` makes of it (§44).
/// @param live of the thread's folder
/// @param reopen makes terms for the same wishes that follow in their turn; called on the loop when
/// a file has changed, and its errors fail the calls of the thread until they are mended
/// @param roots that were wished for, as they were found: a name that leads elsewhere since ends
/// the thread's calls; empty: none
void follow_settings(actors::thread_terms& terms, std::vector<std::string> roots,
                     std::shared_ptr<config::live_rules> live,
                     std::function<result<actors::terms_now>()> reopen);

/// The same for a program with one thread, which `reopen` sets up as it did at first. One that
/// works on another machine keeps its settings.
void follow_settings(thread_setup& setup, std::function<result<thread_setup>()> reopen);

} // namespace gatehouse::cli
