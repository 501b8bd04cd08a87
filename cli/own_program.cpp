#include "cli/own_program.hpp"

#include <climits>

#include <unistd.h>

namespace gatehouse::cli {

std::string beside_me(const char* name) {
  char path[PATH_MAX];
  const auto size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0 || size == sizeof path) return {};
  std::string me{path, static_cast<std::size_t>(size)};
  return me.substr(0, me.find_last_of('/') + 1) + name;
}

std::vector<std::string> own_programs() {
  std::vector<std::string> programs;
  for (const char* name : {"gatehouse", "gatehouse-host", "gatehouse-sandbox",
                           "gatehouse-sandbox-init", "gatehouse-sandbox-patch"})
    if (auto path = beside_me(name); !path.empty()) programs.push_back(std::move(path));
  return programs;
}

} // namespace gatehouse::cli
