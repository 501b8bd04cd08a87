#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// Where a command outside the sandbox starts.
struct command_place {
  std::string cwd;         ///< absolute
  std::string search_path; ///< its PATH
  std::string user_home;   ///< what `~` means
};

struct command_files {
  std::vector<std::string> files; ///< absolute, normal, as named and as they really are, each once
  std::vector<std::string> folders; ///< that are run as if they were a program (`python3 FOLDER`)
};

/// The files that a command of the user's (a hook, a reviewer, a filter of git's) is made of:
/// whoever writes them runs what they like outside the sandbox. Every word of `script` that names a
/// file of this host, the programs and scripts that it names by a path even where there are none,
/// and what PATH leads a bare name to, with the places where PATH looks first; also below the
/// folders that it names. Looks at this host. Not found: what these files load themselves.
command_files files_of_command(std::string_view script, const command_place& place);

} // namespace gatehouse::sandbox
