#pragma once

#include "protocol/result.hpp"
#include "reactor/event_loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::reactor {

/// An HTTP request as the server's owner judges it. Nothing in it is to be trusted.
struct http_request {
  std::string method;
  std::string target;
  /// Names in lower case, in the order of arrival, repeated ones each.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool upgrade = false;                  ///< asks for a WebSocket
  bool local_socket = false;             ///< came over a Unix socket
  std::optional<std::uint32_t> peer_uid; ///< of a Unix socket's peer
  std::uint16_t port = 0;                ///< TCP: ours

  /// The only header of this name; none when it is missing or stands twice.
  [[nodiscard]] const std::string* header(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
};

/// What to answer. 101 accepts an upgrade; any other status is sent with the body.
struct http_answer {
  unsigned status = 404;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

/// One WebSocket, for whoever talks over it. Copies of the pointer keep it, not its connection.
class websocket_connection {
public:
  virtual ~websocket_connection() = default;
  /// Queues one text message; ignored once the connection is closing.
  virtual void send(std::string text) = 0;
  /// The same with one binary message, `head` and then `bytes`, which are not copied and stay as
  /// they are.
  virtual void send_bytes(std::string head, std::shared_ptr<const std::string> bytes) = 0;
  /// Bytes of messages that are not yet with the kernel.
  [[nodiscard]] virtual std::size_t queued_bytes() const = 0;
  /// Closes after what is queued, if the peer takes that in time. `on_closed` still comes.
  virtual void close(std::uint16_t code, const std::string& reason) = 0;
};

/// What happens on one WebSocket, on the loop's thread.
struct websocket_events {
  /// One text message, valid UTF-8. A binary one ends the connection (1003).
  std::function<void(std::string_view text)> on_text;
  /// The queue has become short again after it was longer than `low_water`.
  std::function<void()> on_drained;
  /// Once, as the last.
  std::function<void()> on_closed;
};

struct websocket_terms {
  std::size_t frame_bytes = 16U << 20U; ///< of one message, all its fragments (else 1009)
  std::size_t header_bytes = 16U << 10U;
  std::size_t body_bytes = 64U << 10U;
  /// From a connection's first moment to its upgrade, however many requests come before.
  std::chrono::seconds handshake_limit{10};
  std::size_t requests = 16; ///< of one connection; the last one's answer closes it
  /// Without a sign of life for so long the connection is dead; a ping goes out at half of it.
  std::chrono::seconds idle_limit{40};
  /// A peer that takes nothing of what waits for it for so long, whatever it sends, is dropped; so
  /// is one that is being closed and has not taken all of it by then.
  std::chrono::seconds stuck_limit{30};
  /// How long a connection that ends is still read, so that the peer hears why; a WebSocket whose
  /// peer goes on sending, so long after each part, up to `longest_leave`.
  std::chrono::seconds last_words{2};
  std::chrono::seconds longest_leave{30};
  /// That have not upgraded. The next one is let in and the oldest sent away (503), of those that
  /// were answered first: strangers who stay keep nobody out.
  std::size_t waiting_connections = 64;
  std::size_t low_water = 64U << 10U;
  std::string server_name = "gatehouse";
};

/// Accepts HTTP and WebSocket connections. Used on the loop's thread; its end closes all of them.
class websocket_server {
public:
  /// Judges every request; 101 is meant for upgrades only.
  using judge = std::function<http_answer(const http_request&)>;
  /// An upgrade that was answered with 101.
  using welcome =
      std::function<websocket_events(const http_request&, std::shared_ptr<websocket_connection>)>;

  /// `address` is an IP literal; port 0 takes a free one. errc::io when it cannot be bound.
  static result<std::unique_ptr<websocket_server>>
  listen_tcp(event_loop& loop, const std::string& address, std::uint16_t port,
             websocket_terms terms, judge on_request, welcome on_open);
  /// A socket at `path` with mode 0600; a dead socket of ours that is left there is replaced.
  static result<std::unique_ptr<websocket_server>> listen_unix(event_loop& loop,
                                                               const std::string& path,
                                                               websocket_terms terms,
                                                               judge on_request, welcome on_open);
  ~websocket_server();
  websocket_server(const websocket_server&) = delete;
  websocket_server& operator=(const websocket_server&) = delete;

  /// TCP: the port that was bound; else 0.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Connections that stand.
  [[nodiscard]] std::size_t connections() const noexcept;

private:
  struct impl;
  explicit websocket_server(std::shared_ptr<impl> state);
  std::shared_ptr<impl> impl_;
};

} // namespace gatehouse::reactor
