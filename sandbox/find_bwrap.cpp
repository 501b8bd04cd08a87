#include "sandbox/find_bwrap.hpp"

#include "policy/path_text.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <optional>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

/// Why others could change what stands at canonical `path`, or nothing.
std::optional<std::string> changeable_by_others(std::string path) {
  for (;;) {
    struct stat st {};
    if (lstat(path.c_str(), &st) != 0) return path + " cannot be looked at";
    if (st.st_uid != 0) return path + " does not belong to root";
    const bool sticky_folder = S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX) != 0;
    if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky_folder)
      return path + " is writable by others";
    if (path == "/") return std::nullopt;
    const auto slash = path.rfind('/');
    path.resize(std::max<std::size_t>(slash, 1));
  }
}

} // namespace

result<bwrap_program> find_bwrap(std::string_view path_variable,
                                 std::span<const std::string> writable_roots) {
  std::vector<std::string> folders{"/usr/bin", "/bin", "/usr/local/bin"};
  while (!path_variable.empty()) {
    const auto colon = std::min(path_variable.find(':'), path_variable.size());
    if (path_variable.front() == '/') folders.emplace_back(path_variable.substr(0, colon));
    path_variable.remove_prefix(std::min(colon + 1, path_variable.size()));
  }

  std::string passed_over;
  for (const auto& folder : folders) {
    char canonical[PATH_MAX];
    if (!realpath((folder + "/bwrap").c_str(), canonical)) continue;
    struct stat st {};
    if (stat(canonical, &st) != 0 || !S_ISREG(st.st_mode) || ::access(canonical, X_OK) != 0)
      continue;

    std::optional<std::string> objection;
    // A root of "/" makes every program writable as far as the profile goes; then only the owner
    // and mode of the file can speak for it.
    for (const auto& root : writable_roots)
      if (root != "/" && policy::is_at_or_below(canonical, root))
        objection = std::string{canonical} + " lies in the writable root " + root;
    if (!objection) objection = changeable_by_others(canonical);
    if (!objection) return bwrap_program{canonical, (st.st_mode & S_ISUID) != 0};
    if (passed_over.find(*objection) == std::string::npos) passed_over += "; " + *objection;
  }
  return error{errc::boundary_unavailable,
               "no trustworthy bubblewrap (bwrap) was found" + passed_over,
               "install it, for example: apt-get install bubblewrap"};
}

} // namespace gatehouse::sandbox
