#include "actors/hook_command.hpp"

#include "policy/shell/segments.hpp"
#include "protocol/shell_quote.hpp"

#include <utility>

namespace gatehouse::actors {

std::string hook_command_text(const proposal& what) {
  return policy::is_shell_wrapper(what.argv) ? what.argv[2] : shell_join(what.argv);
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

} // namespace gatehouse::actors
