#pragma once

#include "protocol/result.hpp"
#include "protocol/sandbox_choice.hpp"
#include "sandbox/event_report.hpp"
#include "sandbox/file_descriptor.hpp"
#include "sandbox/supervisor.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gatehouse::sandbox {

/// Exit statuses of our own; every other one is the command's.
inline constexpr int exit_wrong_usage = 2;
inline constexpr int exit_no_boundary = 121;

/// What the inner stage is to do.
struct inner_request {
  bool confine = true; ///< false: disabled and external profiles, which are only supervised
  network_mode network = network_mode::isolated;
  bool guard_creation = false;
  bool own_terminal = false; ///< see leads_terminal_session()
  std::vector<std::string> command;
  std::vector<std::string> environment; ///< "NAME=value"
  std::vector<std::string> write_paths;
};

/// How bubblewrap is called around it; `program` empty: the inner stage is started directly.
struct bwrap_call {
  std::string program;
  std::vector<std::string> arguments; ///< without the payload
  std::span<const int> inherited;     ///< descriptors that `arguments` name
};

/// True when standard input is the controlling terminal of a session that this process leads, that
/// is, a pseudo-terminal made for it.
bool leads_terminal_session() noexcept;

/// Starts the inner stage, serves `watcher` (may be null), forwards signals, reports, and returns
/// the exit status of the command once every process of it has ended.
/// @pre descriptors 0 to 2 are open and everything above is close-on-exec
int run_inner_stage(const std::string& init_path, const inner_request& request,
                    const bwrap_call& bwrap, supervisor* watcher, event_report& report);

} // namespace gatehouse::sandbox
