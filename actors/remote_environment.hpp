#pragma once

#include "actors/command_process.hpp"
#include "protocol/path_uri.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/websocket_client.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace gatehouse::actors {

struct remote_terms {
  std::string name;                               ///< for messages
  path_convention paths = path_convention::posix; ///< of that machine (§8)
  reactor::websocket_address address;
  std::string bearer;                         ///< empty: the server asks for none
  std::chrono::milliseconds retry{100};       ///< between two attempts to come back
  std::chrono::milliseconds recovery{25'000}; ///< how long a lost connection may stay lost
  /// How long after its exit the streams of a command may stay open, since a process that it left
  /// behind may hold them for ever.
  std::chrono::milliseconds drain{2'000};
  /// How long a command that shall end may leave it open whether it was started.
  std::chrono::milliseconds start_doubt{2'000};
};

/// A machine that is reached over the exec-server protocol (§7, §120): what runs there, runs behind
/// that server's boundary. Connects with the first command. A connection that is cut comes back by
/// itself: output that was on its way is read again, each byte told once and in order, writes are
/// made once. One that does not come back in time is the failure of everything that runs over it,
/// and the server ends it after a while. Used on the loop's thread.
class remote_environment {
public:
  remote_environment(reactor::event_loop& loop, remote_terms terms);
  ~remote_environment();
  remote_environment(const remote_environment&) = delete;
  remote_environment& operator=(const remote_environment&) = delete;

  /// Starts a command there: its argv, folder, environment and profile are those of `request`, with
  /// paths of that machine; its `input` cannot be ended and is not sent. What goes wrong is the
  /// command's end. Of signals there is Ctrl-C; any that ends a process ends the whole tree;
  /// others, and the size of a terminal, cannot be sent. A kill that brings no end within
  /// `recovery` is given up (of what was not started, soon): the command's end says so.
  std::unique_ptr<command_process> start(const command_request& request, command_listener listener);

private:
  class connection;
  class handle;
  reactor::event_loop& loop_;
  std::shared_ptr<connection> connection_;
};

} // namespace gatehouse::actors
