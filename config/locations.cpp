#include "config/locations.hpp"

#include <cstdlib>

namespace gatehouse::config {
namespace {

std::string absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && value[0] == '/' ? value : "";
}

} // namespace

locations locations_from_environment() {
  locations where;
  where.user_home = absolute_variable("HOME");
  if (where.user_home.empty()) where.user_home = "/";
  where.gatehouse_home = absolute_variable("GATEHOUSE_HOME");
  if (where.gatehouse_home.empty()) where.gatehouse_home = where.user_home + "/.gatehouse";
  where.system = "/etc/gatehouse";
  auto state = absolute_variable("XDG_STATE_HOME");
  if (state.empty()) state = where.user_home + "/.local/state";
  where.state = state + "/gatehouse";
  return where;
}

} // namespace gatehouse::config
