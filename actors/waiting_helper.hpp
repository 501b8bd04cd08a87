#pragma once

#include "actors/command_process.hpp"
#include "actors/helper_process.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/timer.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// Starts the commands of a program that runs many, each in a helper of its own, of which one is
/// started ahead: when a command has begun to run, the program of the next one's helper is loaded.
/// That helper has no command, no profile and nothing of a boundary before it is given its only
/// one: it has loaded itself and bubblewrap, which has made nothing yet. It is never used again,
/// and ends when it has waited for a while. Loop's thread.
class waiting_helper : public std::enable_shared_from_this<waiting_helper> {
public:
  /// @param loop outlives it
  explicit waiting_helper(reactor::event_loop& loop) : loop_{loop}, next_{loop}, idle_{loop} {}

  /// As helper_process::start.
  result<std::unique_ptr<command_process>> start(const command_request& request,
                                                 command_listener listener);
  [[nodiscard]] bool waits() const noexcept { return helper_ != nullptr; }

private:
  void start_next();

  reactor::event_loop& loop_;
  sandbox::launch_request before_; ///< of the last command, without it
  std::vector<std::string> environment_;
  std::unique_ptr<helper_process> helper_;
  reactor::timer next_; ///< to start one
  reactor::timer idle_; ///< until it has waited long enough
};

} // namespace gatehouse::actors
