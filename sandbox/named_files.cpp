#include "sandbox/named_files.hpp"

#include "policy/path_text.hpp"

#include <algorithm>

#include <sys/stat.h>

namespace gatehouse::sandbox {

std::vector<std::string> files_named_in(std::string_view command, const std::string& cwd,
                                        const std::string& user_home) {
  constexpr std::string_view between = " \t\r\n\"'`;&|()<>=$,";
  std::vector<std::string> files;
  while (!command.empty()) {
    const auto end = std::min(command.find_first_of(between), command.size());
    std::string word{command.substr(0, end)};
    command.remove_prefix(std::min(end + 1, command.size()));
    if (word.starts_with("~/") && !user_home.empty()) word = user_home + word.substr(1);
    if (word.find('/') == std::string::npos) continue;
    std::vector<std::string> paths{policy::absolute_below(cwd, word)};
    // What follows `$HOME` begins with its slash.
    if (word.starts_with('/') && !user_home.empty()) paths.push_back(user_home + word);
    struct stat about {};
    for (auto& path : paths)
      if (::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode))
        files.push_back(std::move(path));
  }
  return files;
}

} // namespace gatehouse::sandbox
