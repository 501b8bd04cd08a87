#include "actors/supervised_program.hpp"

#include "sandbox/launch.hpp"

#include <utility>

namespace gatehouse::actors {

reactor::exchange_request supervised_program(const program_place& place,
                                             std::vector<std::string> argv, std::string input,
                                             std::chrono::milliseconds limit) {
  sandbox::launch_request launch;
  launch.helper = place.helper;
  launch.policy_cwd = launch.command_cwd = place.folder;
  launch.profile = danger_full_access_profile();
  launch.command = std::move(argv);
  reactor::exchange_request exchange;
  exchange.spawn.argv = sandbox::launch_argv(launch);
  exchange.spawn.program = place.helper;
  exchange.spawn.env = place.env;
  exchange.spawn.cwd = "/";
  exchange.spawn.children_end_theirs = true;
  exchange.input = std::move(input);
  exchange.limit = limit;
  return exchange;
}

} // namespace gatehouse::actors
