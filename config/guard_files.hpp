#pragma once

#include "config/locations.hpp"
#include "config/settings.hpp"
#include "protocol/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::config {

/// Where a command outside the sandbox starts.
struct guard_place {
  std::string cwd;         ///< absolute
  std::string search_path; ///< its PATH
  std::string user_home;   ///< what `~` means
};

struct command_files {
  std::vector<std::string> files; ///< absolute, normal, as named and as they really are, each once
  std::vector<std::string> folders; ///< that are run as if they were a program (`python3 FOLDER`)
};

/// The files that a command of the user's (a hook, a reviewer) is made of: whoever writes them runs
/// what they like outside the sandbox. Every word of `script` that names a file of this host, the
/// programs and scripts that it names by a path even where there are none, and what PATH leads a
/// bare name to, with the places where PATH looks first; also below the folders that it names.
/// Looks at this host. Not found: what these files load themselves.
command_files files_of_command(std::string_view script, const guard_place& place);

/// A program of the user's that runs outside the sandbox and says what commands may do.
struct guard_program {
  std::string name; ///< "hooks.json /hooks/PreToolUse/0/hooks/0", "auto_review.command"
  command_files is;
};
/// All hooks and the automatic reviewer, with the files that it trusts. Errors as load_hooks().
result<std::vector<guard_program>>
guard_programs(const locations& where, const effective_settings& settings, const std::string& cwd);

} // namespace gatehouse::config
