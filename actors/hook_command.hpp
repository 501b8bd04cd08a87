#pragma once

#include "protocol/hook_json.hpp"
#include "protocol/result.hpp"
#include "protocol/tool_call.hpp"

#include <string>
#include <string_view>

namespace gatehouse::actors {

/// The command of a call as hooks and people read it (§10): the script of the tool's own shell, or
/// the words quoted for a shell.
std::string hook_command_text(const proposal& what);

/// What the call asks for beside its command, for hooks (§D5).
hook_wishes hook_wishes_of(const proposal& what);

/// The call with the command that a hook put in its place (§10): the text becomes the script of the
/// same shell, or, where the call is an argv, that argv. It is a new proposal, judged from the
/// beginning; the rule that the model suggested for the old command is dropped.
/// Errors: errc::invalid_request when the text is no single plain command and the call has no shell
/// to give it to.
result<proposal> with_hook_command(proposal what, std::string_view command);

/// The same for a call that is a patch: the text is the new patch, for the same folder.
proposal with_hook_patch(proposal what, std::string_view text);

} // namespace gatehouse::actors
