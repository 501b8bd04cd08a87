#pragma once

#include "actors/hook_outcome.hpp"
#include "actors/supervised_program.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/program_exchange.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// One event told to its hooks.
struct hook_question {
  hook_payload payload;               ///< its event is the round's event
  std::vector<hook_handler> handlers; ///< from hook_rules::matching
  bool retry = false;                 ///< about a second attempt: hooks may only deny (§D8)
  program_place place;
};

/// Asks all hooks at the same time, each by running its program with the payload on standard input,
/// and weighs what they say. They run in one folder whatever the call's is: which program a
/// relative name means is not for the call to choose.
class hook_round {
public:
  /// @param done called once on the loop, never inside this call; it may destroy the round
  hook_round(reactor::event_loop& loop, hook_question question,
             std::function<void(hook_decision)> done);
  /// Kills the hooks that still run; `done` is not called any more.
  ~hook_round() = default;
  hook_round(const hook_round&) = delete;
  hook_round& operator=(const hook_round&) = delete;

private:
  void finish();

  hook_question question_;
  std::function<void(hook_decision)> done_;
  std::vector<reactor::exchange_end> ends_;
  std::size_t open_;
  reactor::timer nobody_; ///< answers when there is no hook
  std::vector<std::unique_ptr<reactor::program_exchange>> running_;
};

} // namespace gatehouse::actors
