#pragma once

#include "protocol/hook_json.hpp"
#include "protocol/result.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse {

/// What the failure of a hook (time-out, crash, nonsense) means (§D8).
enum class hook_failure : std::uint8_t {
  block,       ///< as if it had denied; a permission request goes to the next reviewer
  continue_on, ///< as if the hook were not there; the user is warned
};

/// One hook as it is configured.
struct hook_handler {
  hook_event event = hook_event::pre_tool_use;
  std::string matcher; ///< empty or "*": every tool
  std::string command; ///< for `/bin/sh -c`
  std::chrono::seconds timeout{600};
  hook_failure on_failure = hook_failure::block;
  std::string where; ///< "hooks.json /hooks/PreToolUse/0/hooks/1": its name in messages

  bool operator==(const hook_handler&) const = default;
};

/// Reads the text of a hooks.json:
/// `{"hooks":{"<Event>":[{"matcher"?:str,"hooks":[{"type":"command","command":str,
/// "timeout"?:seconds,"on_failure"?:"block"|"continue","statusMessage"?:str,"async"?:false}]}]}}`.
/// Handlers come in the order of the file. Anything else, an event that is not run here included,
/// is errc::invalid_config with its place: a guard that the user believes in must not be left out
/// in silence.
/// @param file its name, for messages
result<std::vector<hook_handler>> decode_hooks_file(std::string_view text, std::string_view file);

} // namespace gatehouse
