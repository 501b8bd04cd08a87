#pragma once

#include "actors/command_process.hpp"
#include "actors/remote_terms.hpp"
#include "reactor/event_loop.hpp"

#include <memory>

namespace gatehouse::actors {

class remote_connection;

/// A machine that is reached over the exec-server protocol (§7, §120): what runs there, runs behind
/// that server's boundary. Connects with the first command. A connection that is cut comes back by
/// itself: output that was on its way is read again, each byte told once and in order, writes are
/// made once. One that does not come back in time, or a server that does not greet in time, is the
/// failure of everything that runs over it; what had been started the server ends after a while.
/// Used on the loop's thread.
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
  reactor::event_loop& loop_;
  std::shared_ptr<remote_connection> connection_;
};

} // namespace gatehouse::actors
