#include "actors/hook_command.hpp"

#include "policy/path_text.hpp"
#include "policy/shell/patch_script.hpp"
#include "policy/shell/segments.hpp"
#include "protocol/shell_quote.hpp"

#include <utility>

namespace gatehouse::actors {

std::string hook_command_text(const proposal& what) {
  if (what.patch) return what.patch->text;
  return policy::is_shell_wrapper(what.argv) ? what.argv[2] : shell_join(what.argv);
}

hook_wishes hook_wishes_of(const proposal& what) {
  return {what.sandbox_permissions, what.additional_permissions, what.justification};
}

result<proposal> with_hook_command(proposal what, std::string_view command) {
  what.prefix_rule.clear();
  if (policy::is_shell_wrapper(what.argv)) {
    what.argv[2] = command;
    return what;
  }
  auto commands = policy::plain_commands(command);
  if (!commands || commands->size() != 1)
    return error{errc::invalid_request,
                 "a hook rewrote the command into `" + std::string{command} +
                     "`, which is more than one plain command, and the call has no shell",
                 "correct the hook: rewrite an argv into one command without operators"};
  what.argv = std::move(commands->front());
  return what;
}

proposal with_hook_patch(proposal what, std::string_view text) {
  if (const auto reading = policy::read_patch_command(what.argv); reading.patch)
    what.cwd = policy::absolute_below(what.cwd, reading.patch->folder);
  what.prefix_rule.clear();
  what.argv = {"apply_patch", std::string{text}};
  return what;
}

} // namespace gatehouse::actors
