#pragma once

#include "protocol/result.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/message_channel.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gatehouse::reactor {

struct websocket_limits {
  std::size_t message = 16 * 1024 * 1024;   ///< bytes of one message from a client
  std::size_t send_queue = 4 * 1024 * 1024; ///< bytes waiting for a client before it counts as full
  std::size_t send_most = 64 * 1024 * 1024; ///< bytes waiting for a client before it is dropped
  std::size_t unproven = 64;                ///< sockets that have not yet shown who they are
  std::chrono::seconds handshake{10};
  std::chrono::seconds silence{40}; ///< a ping after half of it, the end after all of it
  std::chrono::seconds stuck{30};   ///< without taking anything of what waits for it
};

/// Who may connect, and where.
struct websocket_terms {
  std::string address = "127.0.0.1"; ///< numeric; not loopback: a token is needed
  std::uint16_t port = 0;            ///< 0: the system chooses
  std::string unix_path;             ///< not empty: a unix socket there, for our user only
  /// Asked for as `Authorization: Bearer TOKEN`, or as subprotocol `gatehouse.token.` and its
  /// base64url. Empty: nobody is asked; loopback and unix sockets only.
  std::string token;
  std::vector<std::string> origins; ///< that may connect; a request with any other is refused
  websocket_limits limits;
};

/// One client; see message_channel.
class websocket_connection : public message_channel {
public:
  [[nodiscard]] virtual std::size_t queued_bytes() const noexcept = 0;
  /// Of the request, with its query: "/exec?x=1".
  [[nodiscard]] virtual const std::string& target() const noexcept = 0;
};
using websocket_ptr = std::shared_ptr<websocket_connection>;

/// Accepts WebSocket clients. Before anything is upgraded: the method and path are looked at,
/// `Host` must be this server by a loopback name (DNS rebinding), `Origin` must be one of the terms
/// (browsers), the token must fit, a unix peer must be our user. GET /healthz and /readyz answer
/// 200.
class websocket_server {
public:
  /// Errors: `invalid_request` the terms (no number, no token where one is needed), `io` the
  /// socket.
  static result<std::unique_ptr<websocket_server>>
  listen(event_loop& loop, websocket_terms terms, std::function<void(websocket_ptr)> on_open);
  /// Stops accepting and drops all connections, with their `on_close`.
  virtual ~websocket_server() = default;

  /// "ws://127.0.0.1:4711" or "unix:///run/x.sock".
  [[nodiscard]] virtual const std::string& url() const noexcept = 0;
};

/// A request on its way to a WebSocket, as far as admission looks at it.
struct websocket_admission {
  std::string host;
  std::vector<std::string> origins; ///< all `Origin` headers
  std::string authorization;
  std::string protocols; ///< `Sec-WebSocket-Protocol`
};

/// 0 to go on, else the HTTP status of the refusal. Pure.
/// @param port the server's own; 0 on a unix socket
unsigned admit_websocket(const websocket_admission& request, const websocket_terms& terms,
                         std::uint16_t port);

} // namespace gatehouse::reactor
