#pragma once

#include "reactor/detail/watched_fd.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gatehouse::reactor {

/// Pipes for moving bytes between sockets without copying them. A pump borrows one only while bytes
/// are under way, so that a thousand idle connections need none.
class pipe_pool {
public:
  struct pipe {
    unique_fd out, in; ///< read end, write end
  };

  /// An empty pipe; one without descriptors when there are none left.
  pipe take();
  /// @pre the pipe is empty
  void give_back(pipe p);

private:
  std::vector<pipe> idle_;
};

/// Moves bytes one way, from socket to socket, until the end, which it passes on. At most one pipe
/// of bytes waits for a slow reader; then the writer waits.
class byte_pump : public std::enable_shared_from_this<byte_pump> {
public:
  struct listener {
    std::function<void()> on_bytes;         ///< some were moved
    std::function<void(bool whole)> on_end; ///< once; false: one of the sockets failed
  };

  byte_pump(std::shared_ptr<watched_fd> from, std::shared_ptr<watched_fd> to,
            std::shared_ptr<pipe_pool> pipes, listener l);

  void start() { step(); }
  /// Nothing is called any more.
  void abandon();

private:
  void step();
  void end(bool whole);

  std::shared_ptr<watched_fd> from_, to_;
  std::shared_ptr<pipe_pool> pipes_;
  listener listener_;
  pipe_pool::pipe pipe_;
  std::size_t waiting_ = 0; ///< bytes in the pipe
  bool at_end_ = false, ended_ = false;
};

} // namespace gatehouse::reactor
