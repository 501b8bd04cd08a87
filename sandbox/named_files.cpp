#include "sandbox/named_files.hpp"

#include "policy/path_text.hpp"

#include <algorithm>

#include <sys/stat.h>

namespace gatehouse::sandbox {

std::vector<std::string> files_named_in(std::string_view text, const std::string& cwd,
                                        const std::string& user_home) {
  constexpr std::string_view between = " \t\r\n\"'`;&|()<>=$,";
  std::string with_home{text};
  for (const std::string_view name : {"${HOME}", "$HOME"})
    for (auto at = with_home.find(name); at != std::string::npos; at = with_home.find(name))
      with_home.replace(at, name.size(), "~");
  std::vector<std::string> files;
  for (std::string_view rest = with_home; !rest.empty();) {
    const auto end = std::min(rest.find_first_of(between), rest.size());
    std::string word{rest.substr(0, end)};
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word.starts_with("~/") && !user_home.empty()) word = user_home + word.substr(1);
    // An alias and a helper of git's begin with `!` when they are for the shell.
    if (word.starts_with('!')) word.erase(0, 1);
    if (word.find('/') == std::string::npos) continue;
    auto path = policy::absolute_below(cwd, word);
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode))
      files.push_back(std::move(path));
  }
  return files;
}

} // namespace gatehouse::sandbox
