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

std::string unusable_shell_notice() {
  const char* wanted = std::getenv("SHELL");
  const auto used = user_shell();
  if (!wanted || !*wanted || used == wanted) return {};
  return "SHELL=" + std::string{wanted} +
         " is no bash, zsh or sh at a system path: commands run in " + used;
}

} // namespace gatehouse::config
