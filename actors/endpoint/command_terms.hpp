#pragma once

#include "protocol/call_report.hpp"
#include "protocol/rpc/app_methods.hpp"
#include "protocol/rpc/envelope.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What `command/exec` takes, which calls of its thread a command is, and what is told of its end:
/// values and functions; command_book carries them out.
namespace gatehouse::actors {

inline constexpr std::int64_t most_command_output = 1024 * 1024; ///< bytes of a stream (§96)

/// How the ids of calls begin that command/exec makes. No client gives such an id to a call or a
/// turn, so that no process id is ever in the way of one.
inline constexpr std::string_view command_prefix = "command:";

/// What is said to a client that gives one as `field`.
rpc::failure not_a_clients(std::string_view field);

/// An id for the call of a command, never given out before. @param process_id may be empty
std::string command_id(const std::string& process_id);

/// What of the parameters is not understood, or not done here; each by its name.
std::optional<rpc::failure> objection_to(const rpc::app::command_exec_params& p);

/// The call that the command is. A terminal is waited for a moment only: its end is an event.
/// @pre params.thread_id is set
rpc::app::tool_call_params call_for(const rpc::app::command_exec_params& params,
                                    std::string call_id);

/// The call that types `text` into the terminal session of a command.
rpc::app::tool_call_params call_to_type(std::string thread_id, std::string call_id, int session,
                                        std::string text);

/// Without the output.
rpc::app::command_exec_result result_from(const call_report& report);

[[nodiscard]] bool is_size(const rpc::app::terminal_size& size);

} // namespace gatehouse::actors
