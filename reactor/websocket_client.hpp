#pragma once

#include "protocol/result.hpp"
#include "reactor/event_loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace gatehouse::reactor {

/// Where a WebSocket server is.
struct websocket_address {
  std::string host; ///< name, or IP literal without brackets; empty: a Unix socket
  std::uint16_t port = 80;
  std::string target = "/"; ///< path and query that are asked for
  std::string path;         ///< of the Unix socket, absolute

  /// Never leaves this machine: a Unix socket, `localhost` or a loopback address.
  [[nodiscard]] bool local() const;
};
/// Reads ws://HOST[:PORT][/TARGET] or unix:///PATH. errc::invalid_request names what is wrong.
result<websocket_address> read_websocket_address(std::string_view url);

struct websocket_client_terms {
  std::string bearer;                       ///< for the Authorization header; empty: none
  std::size_t frame_bytes = 16U << 20U;     ///< of one message, all its fragments
  std::chrono::seconds handshake_limit{10}; ///< from the start to the open WebSocket
  /// Without a sign of life for so long the connection is dead; a ping goes out at half of it.
  std::chrono::seconds idle_limit{40};
  std::size_t low_water = 64U << 10U;
  /// While reading is paused, so much is read so often all the same: a peer of which nothing is
  /// taken would take us for dead. With less the kernel may not ask it for more.
  std::size_t paused_bytes = 1U << 20U;
  std::chrono::milliseconds paused_look{10'000};
};

/// Why a connection has ended.
struct websocket_end {
  bool opened = false;       ///< false: it never stood, `reason` says why
  unsigned http_status = 0;  ///< what the server answered to the handshake; 0: nothing
  bool not_read = false;     ///< we were paused and took nothing for too long
  std::uint16_t code = 1006; ///< of the peer's close frame; 1006: it went without one
  std::string reason;        ///< the peer's words, or the system's
};

/// What happens on one connection, on the loop's thread and never inside a call of ours.
struct websocket_client_events {
  std::function<void()> on_open;
  /// One text message, valid UTF-8.
  std::function<void(std::string_view text)> on_text;
  /// The queue has become short again after it was longer than `low_water`.
  std::function<void()> on_drained;
  /// Once, as the last, also when nothing was ever open.
  std::function<void(const websocket_end&)> on_closed;
  /// One binary message. Unset: one ends the connection (1003).
  std::function<void(std::string_view bytes)> on_bytes{};
};

/// A client of one WebSocket server. Used on the loop's thread. Its end drops the connection at
/// once, and nothing is called any more; it may happen inside of an event.
class websocket_client {
public:
  /// Begins to connect; what comes of it is an event.
  websocket_client(event_loop& loop, websocket_address to, websocket_client_terms terms,
                   websocket_client_events events);
  ~websocket_client();
  websocket_client(const websocket_client&) = delete;
  websocket_client& operator=(const websocket_client&) = delete;

  /// Queues one text message, also before the connection stands; ignored once it is closing.
  void send(std::string text);
  /// Bytes of messages that are not yet with the kernel.
  [[nodiscard]] std::size_t queued_bytes() const;
  /// After the message that is being told, hardly any more is read until `resume_reading`: the peer
  /// has to wait. That it has gone is heard later then. After about `most` bytes nothing is read at
  /// all, and after `idle_limit` more the connection ends.
  void pause_reading(std::size_t most = SIZE_MAX);
  void resume_reading();
  /// Closes after what is queued. `on_closed` still comes.
  void close(std::uint16_t code, const std::string& reason);

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace gatehouse::reactor
