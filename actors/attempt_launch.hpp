#pragma once

#include "actors/command_process.hpp"
#include "actors/shell_runtime.hpp"
#include "sandbox/launch.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// What no confined command may see, as it is now.
std::vector<std::string> hidden_now(const shell_terms& terms);
/// What was hidden under `before` stays hidden under `now` (§D13). On another machine there is
/// nothing of ours to hide.
void keep_hidden(const shell_terms& before, shell_terms& now);

/// What the helper must be told of a boundary, whatever runs in it.
sandbox::launch_request launch_for(const shell_terms& terms, const std::string& policy_cwd,
                                   const std::vector<std::string>& workspace_roots,
                                   permission_profile profile, sandbox_backend backend);
/// Lets `launch.command`, a program of ours, be executed under profiles that do not show it.
void open_program(sandbox::launch_request& launch);

/// The helper of one attempt with its command, its environment and its network; of the last,
/// `hold` and `end` are called as network_link says. Errors: `boundary_failed` the managed network
/// is not there, `io`: nothing may run.
result<command_request> helper_for(const shell_terms& terms, const attempt_terms& attempt,
                                   limit_holder hold, std::function<void()> end);

/// Starts it where the terms say. Errors: nothing runs.
result<std::unique_ptr<command_process>>
start_command(const shell_terms& terms, const command_request& request, command_listener listener);

/// How the attempt ended, for its record. The first cause wins (§97): a limit or cancellation,
/// whatever the kill did then, before what the helper says. `failure` stays where the command is
/// out of reach: that it was to end does not mean that it has ended.
void take_end(attempt_record& record, const command_end& end,
              const std::optional<attempt_ending>& stopped);

/// What the boundary refused the attempt, if that is why it failed (§98): into its record.
void look_for_denial(attempt_record& record, const shell_terms& terms, const attempt_terms& attempt,
                     const command_end& end, const captured_output& output);

} // namespace gatehouse::actors
