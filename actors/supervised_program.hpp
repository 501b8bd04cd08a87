#pragma once

#include "reactor/program_exchange.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// Where and with what the user's own programs run: hooks, the automatic reviewer.
struct program_place {
  std::string helper;           ///< absolute path of gatehouse-sandbox
  std::string folder;           ///< absolute, of this machine
  std::vector<std::string> env; ///< "K=V"; all that they get
};

/// A question to a program of the user's, outside of every boundary, below gatehouse-sandbox: all
/// that it starts ends with it and with the daemon, however that ends (§99a). A signal that ends it
/// is told as exit status 128 + signal; 127 or 126, with words on standard error, that it cannot be
/// executed; 121 that it could not be supervised, so that nothing ran.
/// @param argv as a shell would look it up in the PATH of the place, or a path
reactor::exchange_request supervised_program(const program_place& place,
                                             std::vector<std::string> argv, std::string input,
                                             std::chrono::milliseconds limit);

} // namespace gatehouse::actors
