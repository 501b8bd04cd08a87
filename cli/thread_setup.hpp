#pragma once

#include "actors/thread_terms.hpp"
#include "cli/remote_session.hpp"
#include "cli/settings_options.hpp"
#include "config/live_rules.hpp"
#include "reactor/event_loop.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gatehouse::cli {

/// A thread as the configuration has it: rules, hooks, automatic reviewer, boundary, environment.
struct thread_setup {
  actors::thread_terms terms;
  std::vector<std::string> warnings;
  known_places places;                      ///< where it could be moved (§7)
  std::shared_ptr<config::live_rules> live; ///< of its folder
};

/// The one way from settings to threads, for `run` and for `serve`. Errors are about the
/// configuration.
/// @param rule_files `--rules`
/// @param loop outlives the thread
/// @param label begins the session id that hooks are told
result<thread_setup> set_up_thread(const start_point& start, std::vector<std::string> rule_files,
                                   reactor::event_loop& loop, std::string_view label);

} // namespace gatehouse::cli
