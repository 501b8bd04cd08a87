#include "reactor/websocket_server.hpp"

#include "reactor/detail/event_loop_access.hpp"
#include "reactor/detail/websocket_peer.hpp"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <set>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace gatehouse::reactor {

namespace asio = boost::asio;
using detail::stream_socket;

namespace {

using asio_error = boost::system::error_code;

error bind_error(const std::string& where, const asio_error& ec) {
  return {errc::io, "cannot listen on " + where + ": " + ec.message(),
          "Choose another address, or end the program that uses this one."};
}

} // namespace

const std::string* http_request::header(std::string_view name) const {
  const std::string* found = nullptr;
  for (const auto& [own, value] : headers) {
    if (own != name) continue;
    if (found) return nullptr;
    found = &value;
  }
  return found;
}

std::size_t http_request::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(headers, [&](const auto& h) { return h.first == name; }));
}

struct websocket_server::impl : detail::websocket_home, std::enable_shared_from_this<impl> {
  impl(event_loop& l, websocket_terms t, judge on_request, welcome on_open)
      : websocket_home{l, std::move(t), std::move(on_request), std::move(on_open)},
        context{event_loop_access::context(l)}, acceptor{context} {}

  void accept();
  void make_room();
  void stop();

  asio::io_context& context;
  asio::basic_socket_acceptor<asio::generic::stream_protocol, asio::io_context::executor_type>
      acceptor;
  std::string unix_path;
  bool stopped = false;
};

void websocket_server::impl::accept() {
  acceptor.async_accept([self = shared_from_this()](const asio_error& ec, stream_socket socket) {
    if (self->stopped) return;
    if (!ec) {
      self->make_room();
      const auto next = detail::make_websocket_peer(self, std::move(socket));
      self->peers.insert(next);
      next->start();
      self->accept();
      return;
    }
    // Out of descriptors or the like: a moment later there may be some.
    const auto pause = std::make_shared<asio::steady_timer>(self->context);
    pause->expires_after(std::chrono::milliseconds{50});
    pause->async_wait([self, pause](const asio_error&) {
      if (!self->stopped) self->accept();
    });
  });
}

void websocket_server::impl::make_room() {
  // Whoever has a credential is in within a moment; a stranger may wait for as long as it likes.
  while (waiting >= terms.waiting_connections) {
    std::shared_ptr<detail::websocket_peer> first;
    for (const auto& one : peers)
      if (one->rank() && (!first || *one->rank() < *first->rank())) first = one;
    if (!first) return;
    const auto before = waiting;
    first->send_away();
    if (waiting == before) return; // it is told first, and is gone when the next one needs room
  }
}

void websocket_server::impl::stop() {
  stopped = true;
  asio_error ignored;
  acceptor.close(ignored);
  if (!unix_path.empty()) ::unlink(unix_path.c_str());
  for (const auto& one : std::set{peers})
    one->abandon();
}

websocket_server::websocket_server(std::shared_ptr<impl> state) : impl_{std::move(state)} {}

websocket_server::~websocket_server() {
  impl_->stop();
}

std::uint16_t websocket_server::port() const noexcept {
  return impl_->port;
}

std::size_t websocket_server::connections() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(impl_->peers, [](const auto& one) { return one->stands(); }));
}

result<std::unique_ptr<websocket_server>>
websocket_server::listen_tcp(event_loop& loop, const std::string& address, std::uint16_t port,
                             websocket_terms terms, judge on_request, welcome on_open) {
  const auto where = address + " port " + std::to_string(port);
  asio_error ec;
  const auto ip = asio::ip::make_address(address, ec);
  if (ec)
    return error{errc::invalid_request, "'" + address + "' is no IP address",
                 "Use 127.0.0.1 or [::1]."};
  auto state =
      std::make_shared<impl>(loop, std::move(terms), std::move(on_request), std::move(on_open));
  const asio::ip::tcp::endpoint at{ip, port};
  auto& acceptor = state->acceptor;
  acceptor.open(asio::generic::stream_protocol{at.protocol()}, ec);
  if (!ec) acceptor.set_option(asio::socket_base::reuse_address(true), ec);
  if (!ec) acceptor.bind(at, ec);
  if (!ec) acceptor.listen(asio::socket_base::max_listen_connections, ec);
  if (ec) return bind_error(where, ec);
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  if (::getsockname(acceptor.native_handle(), reinterpret_cast<sockaddr*>(&bound), &length) == 0) {
    const auto raw = bound.ss_family == AF_INET6
                         ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                         : reinterpret_cast<const sockaddr_in&>(bound).sin_port;
    state->port = ntohs(raw);
  }
  state->accept();
  return std::unique_ptr<websocket_server>{new websocket_server{std::move(state)}};
}

result<std::unique_ptr<websocket_server>>
websocket_server::listen_unix(event_loop& loop, const std::string& path, websocket_terms terms,
                              judge on_request, welcome on_open) {
  if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path))
    return error{errc::invalid_request,
                 "the socket path '" + path + "' is empty or longer than 107 bytes", ""};
  auto state =
      std::make_shared<impl>(loop, std::move(terms), std::move(on_request), std::move(on_open));
  asio_error ec;
  const asio::local::stream_protocol::endpoint at{path};
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode) || info.st_uid != ::geteuid())
      return error{errc::io, "'" + path + "' exists and is no socket of this user",
                   "Choose another path."};
    asio::local::stream_protocol::socket probe{state->context};
    probe.connect(at, ec);
    if (!ec)
      return error{errc::io, "another server listens on '" + path + "'",
                   "End it, or choose another path."};
    ::unlink(path.c_str());
    ec.clear();
  }
  auto& acceptor = state->acceptor;
  acceptor.open(asio::generic::stream_protocol{at.protocol()}, ec);
  // Born closed to others: the mode is right before anybody could connect.
  const auto before = ::umask(0177);
  if (!ec) acceptor.bind(at, ec);
  ::umask(before);
  if (!ec) acceptor.listen(asio::socket_base::max_listen_connections, ec);
  if (ec) return bind_error(path, ec);
  state->unix_path = path;
  state->local_socket = true;
  state->accept();
  return std::unique_ptr<websocket_server>{new websocket_server{std::move(state)}};
}

} // namespace gatehouse::reactor
