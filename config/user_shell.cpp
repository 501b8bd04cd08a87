#include "config/user_shell.hpp"

#include "policy/shell/segments.hpp"

#include <cstdlib>

#include <unistd.h>

namespace gatehouse::config {

std::string user_shell() {
  const char* wanted = std::getenv("SHELL");
  for (const char* shell : {wanted, "/bin/bash"}) {
    if (!shell || shell[0] != '/' || ::access(shell, X_OK) != 0) continue;
    const std::string argv[] = {shell, "-c", ":"};
    if (policy::is_shell_wrapper(argv)) return shell;
  }
  return "/bin/sh";
}

} // namespace gatehouse::config
