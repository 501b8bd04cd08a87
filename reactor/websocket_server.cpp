#include "reactor/websocket_server.hpp"

#include "reactor/detail/event_loop_access.hpp"
#include "reactor/timer.hpp"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <cerrno>
#include <cstring>
#include <deque>
#include <list>
#include <optional>
#include <set>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::reactor {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::generic::stream_protocol;
using boost::system::error_code;
using socket_type = stream_protocol::socket;

constexpr std::uint32_t max_header_bytes = 16 * 1024;
constexpr std::string_view our_protocol = "gatehouse.v1";

class server;

/// An upgraded socket: one read and one write at a time.
class connection final : public websocket_connection,
                         public std::enable_shared_from_this<connection> {
public:
  connection(event_loop& loop, socket_type socket, const websocket_limits& limits,
             std::string target)
      : stream_{std::move(socket)}, limits_{limits}, target_{std::move(target)}, stuck_{loop} {
    websocket::stream_base::timeout times{};
    times.handshake_timeout = limits.handshake;
    times.idle_timeout = limits.silence;
    times.keep_alive_pings = true;
    stream_.set_option(times);
    stream_.read_message_max(limits.message);
    stream_.auto_fragment(false);
  }

  template <class Request, class Done>
  void accept(const Request& request, Done done) {
    const auto offered = request[http::field::sec_websocket_protocol];
    if (offered.find(beast::string_view{our_protocol.data(), our_protocol.size()}) !=
        beast::string_view::npos)
      stream_.set_option(websocket::stream_base::decorator([](websocket::response_type& answer) {
        answer.set(http::field::sec_websocket_protocol,
                   beast::string_view{our_protocol.data(), our_protocol.size()});
      }));
    stream_.async_accept(request, [self = shared_from_this(), done](error_code ec) { done(ec); });
  }

  void start() { read(); }

  void set_events(channel_events events) override {
    events_ = std::make_shared<channel_events>(std::move(events));
  }

  void send(std::string text) override {
    if (closed_ || closing_) return;
    queued_ += text.size();
    queue_.push_back(std::move(text));
    if (queued_ > limits_.send_most) return drop();
    was_full_ |= full();
    write();
  }

  [[nodiscard]] bool full() const noexcept override { return queued_ > limits_.send_queue; }
  [[nodiscard]] std::size_t queued_bytes() const noexcept override { return queued_; }
  [[nodiscard]] const std::string& target() const noexcept override { return target_; }

  void close(std::uint16_t code, std::string reason) override {
    if (closed_ || closing_) return;
    closing_.emplace(static_cast<websocket::close_code>(code), reason.c_str());
    write();
  }

  /// At once, without a word. `on_close` comes later, never inside this call.
  void drop() {
    error_code ignored; // it is gone whatever this says
    beast::get_lowest_layer(stream_).close(ignored);
  }

  std::function<void()> on_gone; ///< the server's

private:
  void read() {
    stream_.async_read(
        buffer_, [self = shared_from_this()](error_code ec, std::size_t) { self->on_read(ec); });
  }

  void on_read(error_code ec) {
    if (ec) return ended();
    if (!stream_.got_text()) {
      close(websocket::close_code::unknown_data, "text messages only");
    } else if (const auto events = events_; events && events->on_message && !closing_) {
      const auto data = buffer_.cdata();
      events->on_message({static_cast<const char*>(data.data()), data.size()});
    }
    buffer_.consume(buffer_.size());
    constexpr std::size_t worth_keeping = 64 * 1024;
    if (buffer_.capacity() > worth_keeping) buffer_ = beast::flat_buffer{};
    read();
  }

  void write() {
    if (writing_ || closed_) return;
    if (queue_.empty()) {
      if (!closing_) return;
      writing_ = true;
      stream_.async_close(*closing_, [self = shared_from_this()](error_code) { self->drop(); });
      return;
    }
    writing_ = true;
    stuck_.start(limits_.stuck, [this] { drop(); });
    stream_.text(true);
    stream_.async_write(
        asio::buffer(queue_.front()),
        [self = shared_from_this()](error_code ec, std::size_t) { self->on_written(ec); });
  }

  void on_written(error_code ec) {
    writing_ = false;
    stuck_.cancel();
    if (ec) return drop();
    queued_ -= queue_.front().size();
    queue_.pop_front();
    write();
    if (was_full_ && queued_ <= limits_.send_queue / 2) {
      was_full_ = false;
      if (const auto events = events_; events && events->on_drained) events->on_drained();
    }
  }

  void ended() {
    if (std::exchange(closed_, true)) return;
    stuck_.cancel();
    drop();
    queue_.clear();
    queued_ = 0;
    if (const auto gone = std::exchange(on_gone, {})) gone();
    if (const auto events = std::exchange(events_, {}); events && events->on_close)
      events->on_close();
  }

  websocket::stream<socket_type> stream_;
  const websocket_limits limits_;
  const std::string target_;
  timer stuck_;
  beast::flat_buffer buffer_;
  std::deque<std::string> queue_;
  std::size_t queued_ = 0;
  std::shared_ptr<channel_events> events_;
  std::optional<websocket::close_reason> closing_;
  bool writing_ = false;
  bool was_full_ = false;
  bool closed_ = false;
};

/// A socket that has not been admitted yet.
struct newcomer {
  newcomer(event_loop& loop, socket_type s) : socket{std::move(s)}, limit{loop} {
    parser.header_limit(max_header_bytes);
    parser.body_limit(0);
  }
  socket_type socket;
  beast::flat_buffer buffer;
  http::request_parser<http::empty_body> parser;
  http::response<http::string_body> answer;
  timer limit;
};

class server final : public websocket_server {
public:
  server(event_loop& loop, websocket_terms terms, std::function<void(websocket_ptr)> on_open)
      : state_{std::make_shared<state>(loop, std::move(terms), std::move(on_open))} {}

  ~server() override {
    state_->stopped = true;
    error_code ignored; // nothing more is accepted whatever it says
    state_->acceptor.close(ignored);
    const auto open = state_->open;
    for (const auto& one : open)
      one->drop();
    for (const auto& one : state_->newcomers) {
      one->limit.cancel();
      one->socket.close(ignored);
    }
    if (!state_->terms.unix_path.empty()) ::unlink(state_->terms.unix_path.c_str());
  }

  result<void> open();
  [[nodiscard]] const std::string& url() const noexcept override { return state_->url; }

private:
  struct state : std::enable_shared_from_this<state> {
    state(event_loop& l, websocket_terms t, std::function<void(websocket_ptr)> o)
        : loop{l}, terms{std::move(t)}, on_open{std::move(o)},
          acceptor{event_loop_access::context(l)}, retry{l} {}

    void accept();
    void greet(socket_type socket);
    void judge(const std::shared_ptr<newcomer>& one);
    void answer(const std::shared_ptr<newcomer>& one, unsigned status, const char* text);
    void upgrade(const std::shared_ptr<newcomer>& one);

    event_loop& loop;
    websocket_terms terms;
    std::function<void(websocket_ptr)> on_open;
    asio::basic_socket_acceptor<stream_protocol> acceptor;
    timer retry;
    std::string url;
    std::uint16_t port = 0;
    std::set<std::shared_ptr<newcomer>> newcomers;
    std::set<std::shared_ptr<connection>> open;
    bool stopped = false;
  };
  std::shared_ptr<state> state_;
};

error socket_error(const std::string& what, const error_code& ec) {
  return {errc::io, what + ": " + ec.message(), "choose another address, or end what uses it"};
}

result<void> server::open() {
  auto& s = *state_;
  const auto& terms = s.terms;
  error_code ec;
  stream_protocol::endpoint endpoint;
  const bool local = !terms.unix_path.empty();
  if (local) {
    if (terms.unix_path.size() >= sizeof(sockaddr_un::sun_path))
      return error{errc::invalid_request, "the path of the socket is too long: " + terms.unix_path,
                   "choose a shorter one"};
    endpoint = asio::local::stream_protocol::endpoint{terms.unix_path};
  } else {
    const auto address = asio::ip::make_address(terms.address, ec);
    if (ec)
      return error{errc::invalid_request, "'" + terms.address + "' is not a numeric address",
                   "for example 127.0.0.1"};
    if (!address.is_loopback() && terms.token.empty())
      return error{errc::invalid_request,
                   "without a token only this machine may connect, and " + terms.address +
                       " is not a loopback address",
                   "listen on 127.0.0.1, or give a token"};
    endpoint = asio::ip::tcp::endpoint{address, terms.port};
  }
  const auto where = local ? terms.unix_path : terms.address + ":" + std::to_string(terms.port);
  s.acceptor.open(endpoint.protocol(), ec);
  if (ec) return socket_error("cannot make a socket", ec);
  if (!local) s.acceptor.set_option(asio::socket_base::reuse_address{true}, ec);
  const auto mask = ::umask(0177); // a unix socket is for our user only
  s.acceptor.bind(endpoint, ec);
  ::umask(mask);
  if (ec) return socket_error("cannot listen on " + where, ec);
  s.acceptor.listen(asio::socket_base::max_listen_connections, ec);
  if (ec) return socket_error("cannot listen on " + where, ec);
  if (local) {
    s.url = "unix://" + terms.unix_path;
  } else {
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    ::getsockname(s.acceptor.native_handle(), reinterpret_cast<sockaddr*>(&bound), &size);
    s.port =
        ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                                          : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
    const bool v6 = terms.address.find(':') != std::string::npos;
    s.url =
        "ws://" + (v6 ? "[" + terms.address + "]" : terms.address) + ":" + std::to_string(s.port);
  }
  s.accept();
  return {};
}

void server::state::accept() {
  acceptor.async_accept([self = shared_from_this()](error_code ec, socket_type socket) {
    if (self->stopped || ec == asio::error::operation_aborted) return;
    if (ec) { // no descriptor left, say: others may end
      self->retry.start(std::chrono::milliseconds{100}, [s = self.get()] { s->accept(); });
      return;
    }
    if (self->newcomers.size() < self->terms.limits.unproven) self->greet(std::move(socket));
    self->accept();
  });
}

void server::state::greet(socket_type socket) {
  if (!terms.unix_path.empty()) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        peer.uid != ::geteuid())
      return;
  } else {
    const int on = 1;
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, 1 /* TCP_NODELAY */, &on, sizeof on);
  }
  const auto one = std::make_shared<newcomer>(loop, std::move(socket));
  newcomers.insert(one);
  one->limit.start(terms.limits.handshake, [raw = one.get()] {
    error_code ignored; // it is gone whatever it says
    raw->socket.close(ignored);
  });
  http::async_read(one->socket, one->buffer, one->parser,
                   [self = shared_from_this(), one](error_code ec, std::size_t) {
                     if (self->stopped) return;
                     if (ec) {
                       self->newcomers.erase(one);
                       return;
                     }
                     self->judge(one);
                   });
}

void server::state::judge(const std::shared_ptr<newcomer>& one) {
  const auto& request = one->parser.get();
  websocket_admission facts;
  const auto text = [](beast::string_view v) { return std::string{v.data(), v.size()}; };
  facts.host = text(request[http::field::host]);
  for (const auto& header : request)
    if (header.name() == http::field::origin) facts.origins.push_back(text(header.value()));
  facts.authorization = text(request[http::field::authorization]);
  facts.protocols = text(request[http::field::sec_websocket_protocol]);
  auto own_terms = terms;
  const auto target = text(request.target());
  const bool probe = target == "/healthz" || target == "/readyz";
  if (probe) own_terms.token.clear();
  if (request.method() != http::verb::get) return answer(one, 405, "GET only\n");
  if (const auto status = admit_websocket(facts, own_terms, port))
    return answer(one, status, status == 401 ? "a token is needed\n" : "refused\n");
  if (probe) return answer(one, 200, "ok\n");
  if (!websocket::is_upgrade(request)) return answer(one, 426, "this is a WebSocket server\n");
  upgrade(one);
}

void server::state::answer(const std::shared_ptr<newcomer>& one, unsigned status,
                           const char* text) {
  one->answer.version(11);
  one->answer.result(status);
  one->answer.keep_alive(false);
  if (status == 401) one->answer.set(http::field::www_authenticate, "Bearer");
  if (status == 426) one->answer.set(http::field::upgrade, "websocket");
  one->answer.set(http::field::content_type, "text/plain");
  one->answer.body() = text;
  one->answer.prepare_payload();
  http::async_write(one->socket, one->answer,
                    [self = shared_from_this(), one](error_code, std::size_t) {
                      error_code ignored; // the answer is out or lost
                      one->socket.shutdown(asio::socket_base::shutdown_both, ignored);
                      self->newcomers.erase(one);
                    });
}

void server::state::upgrade(const std::shared_ptr<newcomer>& one) {
  one->limit.cancel();
  const auto request = one->parser.get();
  const auto target = request.target();
  const auto client = std::make_shared<connection>(loop, std::move(one->socket), terms.limits,
                                                   std::string{target.data(), target.size()});
  open.insert(client);
  const std::weak_ptr<state> weak = shared_from_this();
  const std::weak_ptr<connection> weak_client = client;
  client->on_gone = [weak, weak_client] {
    if (const auto s = weak.lock()) s->open.erase(weak_client.lock());
  };
  client->accept(request, [weak, client, one](error_code ec) {
    const auto s = weak.lock();
    if (s) s->newcomers.erase(one);
    if (ec || !s || s->stopped) {
      if (s) s->open.erase(client);
      return;
    }
    s->on_open(client);
    client->start();
  });
}

} // namespace

result<std::unique_ptr<websocket_server>>
websocket_server::listen(event_loop& loop, websocket_terms terms,
                         std::function<void(websocket_ptr)> on_open) {
  auto made = std::make_unique<server>(loop, std::move(terms), std::move(on_open));
  if (auto opened = made->open(); !opened) return opened.error();
  return std::unique_ptr<websocket_server>{std::move(made)};
}

} // namespace gatehouse::reactor
