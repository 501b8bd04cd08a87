#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Reads the words in which programs report that the system refused them something. It finds
// candidates; whether one is a denial is for the evaluator to say.
namespace gatehouse::sandbox {

enum class failure_words : std::uint8_t {
  permission_denied, ///< EACCES
  not_permitted,     ///< EPERM
  read_only,         ///< EROFS
  busy,              ///< EBUSY, of a mount point
  not_found,         ///< ENOENT, how an empty view hides what is not granted
  unexplained,       ///< output could not be written; the paths are those of the command line
};

struct reported_failure {
  failure_words words = failure_words::permission_denied;
  bool about_writing = false;     ///< says create, write, remove, …
  std::vector<std::string> paths; ///< as written, relative or absolute, likeliest first
};

/// The failures that `text` reports, last line first, since the last one is likeliest to have ended
/// the command. Words that stand in `argv` itself are the command's own and do not count.
std::vector<reported_failure> find_reported_failures(std::string_view text,
                                                     const std::vector<std::string>& argv);

struct reported_network_failure {
  std::string host; ///< empty when the words name none
};

/// As above, for name resolution and connections.
std::vector<reported_network_failure> find_network_failures(std::string_view text,
                                                            const std::vector<std::string>& argv);

/// The folders that the words go to: after `cd`, `-C`, `--directory`, … In `argv` as given, or in
/// the text of a script.
std::vector<std::string> entered_folders(const std::vector<std::string>& argv);

/// The host of the first URL or `user@host:path` in the words; empty when there is none.
std::string host_in_argv(const std::vector<std::string>& argv);

} // namespace gatehouse::sandbox
