#pragma once

#include "protocol/hooks_file.hpp"
#include "reactor/program_exchange.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// What all hooks of one event say together.
struct hook_decision {
  hook_verdict verdict = hook_verdict::none;
  std::string reason;                   ///< deny: for the model
  std::optional<std::string> rewritten; ///< PreToolUse: the command to parse and judge instead
  std::vector<std::string> contexts;    ///< for the model, in the order of the configuration
  std::vector<std::string> warnings;    ///< for the user, in the order of the configuration

  bool operator==(const hook_decision&) const = default;
};

/// Weighs the runs of `handlers`, one each, in the order of the configuration whatever finished
/// first. Exit status 0: the answer on standard output; 2: a denial with standard error as its
/// text; anything else, and an answer that is not understood, is a failure (§D8). The first denial
/// wins over all else; a failure counts as its handler says. An allow counts for a permission
/// request only, and only when no hook failed strictly; at a retry it counts for nothing (§D8).
/// Rewritings that contradict each other deny.
/// @param retry the question is about a second attempt
hook_decision weigh_hooks(hook_event event, std::span<const hook_handler> handlers,
                          std::span<const reactor::exchange_end> runs, bool retry);

} // namespace gatehouse::actors
