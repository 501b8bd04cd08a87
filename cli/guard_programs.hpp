#pragma once

#include "config/locations.hpp"
#include "config/settings.hpp"
#include "protocol/result.hpp"
#include "sandbox/command_files.hpp"

#include <string>
#include <vector>

namespace gatehouse::cli {

/// A program of the user's that runs outside the sandbox and says what commands may do.
struct guard_program {
  std::string name; ///< "hooks.json /hooks/PreToolUse/0/hooks/0", "auto_review.command"
  sandbox::command_files is;
  bool is_there = true; ///< false: nothing stands there, and only the name is protected
};
/// All hooks and the automatic reviewer, with the files that it trusts. Looks at this host. Errors
/// as config::load_hooks().
result<std::vector<guard_program>> guard_programs(const config::locations& where,
                                                  const config::effective_settings& settings,
                                                  const std::string& cwd);

} // namespace gatehouse::cli
