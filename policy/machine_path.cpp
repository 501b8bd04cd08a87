#include "policy/machine_path.hpp"

#include "policy/path_text.hpp"

#include <algorithm>

namespace gatehouse::policy {

result<std::string> folder_below(path_convention paths, std::string_view base,
                                 std::string_view text) {
  if (names_its_convention(text)) {
    const auto named = read_path(text);
    if (!named) return named.error();
    if (named->convention != paths)
      return error{errc::invalid_request,
                   "'" + std::string{text} + "' is a path of " +
                       (paths == path_convention::posix ? "Windows" : "POSIX") +
                       ", and the machine of this session has none",
                   "Name a folder as that machine does."};
    return lexically_normal(rooted_path(*named));
  }
  std::string plain{text};
  if (paths == path_convention::windows) std::ranges::replace(plain, '\\', '/');
  return absolute_below(base, plain);
}

} // namespace gatehouse::policy
