#pragma once

#include "reactor/websocket_server.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>

/// Between the server, which accepts, and its connections.
namespace gatehouse::reactor::detail {

using stream_socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol,
                                                       boost::asio::io_context::executor_type>;

/// One connection: HTTP requests, then perhaps a WebSocket.
class websocket_peer : public websocket_connection {
public:
  virtual void start() = 0;
  [[nodiscard]] virtual bool stands() const noexcept = 0;
  /// The smallest is sent away first; none: it has upgraded.
  [[nodiscard]] virtual std::optional<std::pair<int, std::uint64_t>> rank() const noexcept = 0;
  /// Another connection needs its place.
  virtual void send_away() = 0;
  /// The server ends: nothing more is said to the owner.
  virtual void abandon() = 0;
};

/// What the connections of one server share.
struct websocket_home {
  event_loop& loop;
  websocket_terms terms;
  websocket_server::judge judge_request;
  websocket_server::welcome open;
  std::uint16_t port = 0;    ///< TCP
  bool local_socket = false; ///< else TCP
  std::set<std::shared_ptr<websocket_peer>> peers{};
  std::size_t waiting = 0;    ///< peers without an open WebSocket
  std::uint64_t accepted = 0; ///< numbers them in the order of arrival
};

std::shared_ptr<websocket_peer> make_websocket_peer(std::shared_ptr<websocket_home> home,
                                                    stream_socket socket);

} // namespace gatehouse::reactor::detail
