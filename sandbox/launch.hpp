#pragma once

#include "protocol/permission_profile.hpp"
#include "protocol/sandbox_event.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// Everything `gatehouse-sandbox` must be told for one attempt.
struct launch_request {
  std::string helper;     ///< absolute path of gatehouse-sandbox
  std::string policy_cwd; ///< absolute
  std::string command_cwd;
  permission_profile profile; ///< disabled or external: supervised, not confined
  std::vector<std::string> workspace_roots;
  std::string tmpdir;                       ///< of the command's environment; empty: none
  std::vector<std::string> protected_names; ///< beside the default ones
  std::vector<std::string> protected_paths;
  int report_fd = -1; ///< the child's number of the descriptor that takes the report
  std::vector<std::string> command;
};

/// The argv of the helper (§76). Pure.
std::vector<std::string> launch_argv(const launch_request& request);

/// Cuts the report of the helper into lines and reads them; bytes may come in any pieces. A line
/// that is not understood, or longer than 64 KiB, is counted, never guessed at.
class report_reader {
public:
  /// The events that `bytes` completes, in order.
  std::vector<sandbox_event> feed(std::string_view bytes);
  [[nodiscard]] std::size_t not_understood() const noexcept { return not_understood_; }

private:
  std::string pending_;
  bool skipping_ = false;
  std::size_t not_understood_ = 0;
};

} // namespace gatehouse::sandbox
