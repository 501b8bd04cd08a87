#pragma once

#include "protocol/hooks_file.hpp"
#include "protocol/result.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

/// The tools that hooks may name, and their other names.
enum class hook_tool : std::uint8_t {
  shell_command,
  exec_command,
  apply_patch,
  write_stdin,
  request_permissions,
  network_access,
};

/// The name in a payload's `tool_name`: both command tools are "Bash".
std::string_view tool_name(hook_tool tool) noexcept;
/// The tool of this name ("shell_command", "exec_command", …); unknown names are commands.
hook_tool hook_tool_of(std::string_view name) noexcept;
/// Every name that a matcher may use for the tool; the first is `tool_name`.
std::span<const std::string_view> names_of(hook_tool tool) noexcept;

/// Which hooks hear of which tool. Immutable once made; cheap to copy.
class hook_rules {
public:
  hook_rules() = default;

  /// Compiles the matchers: a list of exact names separated by `|`, or else a regular expression
  /// (ECMAScript) that is searched in each name. Errors (errc::invalid_config, with the place of
  /// the hook): an invalid expression; a matcher that no tool of ours answers to, since a guard
  /// that never fires is worse than none.
  static result<hook_rules> compile(std::vector<hook_handler> handlers);

  /// The hooks of `event` for `tool`, in the order of the configuration.
  [[nodiscard]] std::vector<hook_handler> matching(hook_event event, hook_tool tool) const;
  [[nodiscard]] bool empty() const noexcept { return !rules_ || rules_->empty(); }

private:
  struct rule;
  std::shared_ptr<const std::vector<rule>> rules_;
};

} // namespace gatehouse::actors
