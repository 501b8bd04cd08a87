#pragma once

#include "protocol/path_uri.hpp"
#include "reactor/websocket_client.hpp"

#include <chrono>
#include <string>

namespace gatehouse::actors {

struct remote_terms {
  std::string name;                               ///< for messages
  path_convention paths = path_convention::posix; ///< of that machine (§8)
  reactor::websocket_address address;
  std::string bearer; ///< empty: the server asks for none
  /// From the first byte to the server's greeting; shorter than the time limit that commands have
  /// unless one is given, so that a mute server is named as what it is.
  std::chrono::milliseconds greeting{8'000};
  std::chrono::milliseconds retry{100};       ///< between two attempts to come back
  std::chrono::milliseconds recovery{25'000}; ///< how long a lost connection may stay lost
  /// How long after its exit the streams of a command may stay open, since a process that it left
  /// behind may hold them for ever.
  std::chrono::milliseconds drain{2'000};
  /// How long a command that shall end may leave it open whether it was started.
  std::chrono::milliseconds start_doubt{2'000};
};

} // namespace gatehouse::actors
