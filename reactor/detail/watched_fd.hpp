#pragma once

#include "reactor/detail/event_loop_access.hpp"
#include "reactor/unique_fd.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <utility>

namespace gatehouse::reactor {

/// A descriptor with word from the loop when it can be read or written. Handlers of a closed one
/// never run; each holds what keeps its object alive.
class watched_fd {
public:
  watched_fd(event_loop& loop, unique_fd fd)
      : fd_{event_loop_access::context(loop), fd.release()} {}

  [[nodiscard]] int get() { return fd_.native_handle(); }
  [[nodiscard]] bool is_open() const { return fd_.is_open(); }

  template <class Handler>
  void when_readable(Handler handler) {
    wait(boost::asio::posix::descriptor_base::wait_read, std::move(handler));
  }
  template <class Handler>
  void when_writable(Handler handler) {
    wait(boost::asio::posix::descriptor_base::wait_write, std::move(handler));
  }

  /// When the connection is broken; also at other unusual things: look at SO_ERROR.
  template <class Handler>
  void when_failed(Handler handler) {
    wait(boost::asio::posix::descriptor_base::wait_error, std::move(handler));
  }

  void close() {
    boost::system::error_code ignored; // it is closed whatever it says
    fd_.close(ignored);
  }

private:
  template <class Handler>
  void wait(boost::asio::posix::descriptor_base::wait_type what, Handler handler) {
    fd_.async_wait(what,
                   [handler = std::move(handler)](const boost::system::error_code& ec) mutable {
                     if (!ec) handler();
                   });
  }

  boost::asio::posix::stream_descriptor fd_;
};

} // namespace gatehouse::reactor
