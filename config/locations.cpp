#include "config/locations.hpp"

#include <cstdlib>
#include <vector>

#include <pwd.h>
#include <unistd.h>

namespace gatehouse::config {
namespace {

std::string absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && value[0] == '/' ? value : "";
}

/// A service or a job may start without HOME; the user's rules hold for it, too.
std::string registered_home() {
  passwd user{};
  passwd* found = nullptr;
  std::vector<char> text(std::size_t{64} * 1024);
  if (::getpwuid_r(::geteuid(), &user, text.data(), text.size(), &found) != 0 || found == nullptr ||
      found->pw_dir[0] != '/')
    return "/";
  return found->pw_dir;
}

std::string below(const std::string& folder, const char* name) {
  return (folder == "/" ? "" : folder) + name;
}

} // namespace

locations locations_from_environment() {
  locations where;
  where.user_home = absolute_variable("HOME");
  if (where.user_home.empty()) where.user_home = registered_home();
  where.gatehouse_home = absolute_variable("GATEHOUSE_HOME");
  if (where.gatehouse_home.empty()) where.gatehouse_home = below(where.user_home, "/.gatehouse");
  where.system = "/etc/gatehouse";
  auto state = absolute_variable("XDG_STATE_HOME");
  if (state.empty()) state = below(where.user_home, "/.local/state");
  where.state = state + "/gatehouse";
  return where;
}

} // namespace gatehouse::config
