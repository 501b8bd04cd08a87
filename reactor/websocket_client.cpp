#include "reactor/websocket_client.hpp"

#include "reactor/detail/event_loop_access.hpp"
#include "reactor/timer.hpp"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <algorithm>
#include <charconv>
#include <deque>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace gatehouse::reactor {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;

namespace {

using stream_type =
    beast::basic_stream<asio::generic::stream_protocol, asio::io_context::executor_type>;
using endpoint = asio::generic::stream_protocol::endpoint;
using beast_error = beast::error_code;

error bad_address(std::string_view url, std::string_view why) {
  return {errc::invalid_request, "'" + std::string{url} + "': " + std::string{why},
          "Write ws://HOST:PORT or unix:///PATH."};
}

bool is_plain(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') return false;
  return true;
}

} // namespace

bool websocket_address::local() const {
  if (host.empty() || host == "localhost") return true;
  beast_error ec;
  const auto ip = asio::ip::make_address(host, ec);
  return !ec && ip.is_loopback();
}

result<websocket_address> read_websocket_address(std::string_view url) {
  websocket_address to;
  if (url.starts_with("unix://")) {
    to.path = url.substr(7);
    if (!to.path.starts_with('/')) return bad_address(url, "the path of a socket is absolute");
    if (to.path.size() >= sizeof(sockaddr_un::sun_path))
      return bad_address(url, "the path of a socket has at most 107 bytes");
    return to;
  }
  if (!url.starts_with("ws://")) return bad_address(url, "not an address that is known");
  if (!is_plain(url)) return bad_address(url, "spaces and control characters have no place in it");
  auto rest = url.substr(5);
  const auto slash = rest.find_first_of("/?#");
  if (slash != std::string_view::npos) {
    to.target = rest.substr(slash);
    if (to.target.find('#') != std::string::npos) return bad_address(url, "it has a fragment");
    if (to.target.front() != '/') to.target.insert(0, "/");
    rest = rest.substr(0, slash);
  }
  if (rest.find('@') != std::string_view::npos)
    return bad_address(url, "credentials do not belong into an address");
  const auto bracket = rest.rfind(']');
  const auto colon = rest.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    const auto digits = rest.substr(colon + 1);
    const auto end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, to.port);
    if (digits.empty() || read.ec != std::errc{} || read.ptr != end || to.port == 0)
      return bad_address(url, "the port is no number from 1 to 65535");
    rest = rest.substr(0, colon);
  }
  const bool literal = rest.starts_with('[');
  if (literal) {
    if (!rest.ends_with(']')) return bad_address(url, "the bracket is not closed");
    rest = rest.substr(1, rest.size() - 2);
  }
  to.host = rest;
  beast_error ec;
  if (to.host.empty()) return bad_address(url, "the host is missing");
  if (literal != (to.host.find(':') != std::string::npos) ||
      (literal && (asio::ip::make_address_v6(to.host, ec), ec)))
    return bad_address(url, "an IPv6 address stands in brackets");
  return to;
}

class websocket_client::impl : public std::enable_shared_from_this<impl> {
public:
  impl(event_loop& loop, websocket_address to, websocket_client_terms terms,
       websocket_client_events events)
      : context_{event_loop_access::context(loop)}, to_{std::move(to)}, terms_{std::move(terms)},
        events_{std::move(events)}, limit_{loop}, look_{loop}, resolver_{context_}, ws_{context_} {}

  void start() {
    limit_.start(terms_.handshake_limit, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->fail("the server does not answer");
    });
    if (to_.host.empty()) return connect({asio::local::stream_protocol::endpoint{to_.path}});
    resolver_.async_resolve(
        to_.host, std::to_string(to_.port),
        [self = shared_from_this()](const beast_error& ec,
                                    const asio::ip::tcp::resolver::results_type& found) {
          if (self->ended_) return;
          if (ec) return self->fail("there is no host " + self->to_.host + ": " + ec.message());
          std::vector<endpoint> all;
          for (const auto& one : found)
            all.emplace_back(one.endpoint());
          self->connect(std::move(all));
        });
  }

  void send(std::string text) {
    if (closing_ || ended_) return;
    queued_ += text.size();
    if (queued_ > terms_.low_water) above_ = true;
    queue_.push_back(std::move(text));
    if (open_ && !writing_) write_next();
  }

  [[nodiscard]] std::size_t queued_bytes() const { return queued_; }

  void pause_reading(std::size_t most) {
    if (std::exchange(paused_, true)) return;
    allowance_ = 0;
    paused_left_ = most;
  }

  void resume_reading() {
    if (!std::exchange(paused_, false)) return;
    look_.cancel();
    limit_.cancel();
    if (open_ && !ended_ && !reading_) read_message();
  }

  void close(std::uint16_t code, const std::string& reason) {
    if (closing_ || ended_) return;
    closing_ = true;
    resume_reading(); // for the peer's answer
    // A close frame holds at most 123 bytes of reason.
    reason_ =
        websocket::close_reason{static_cast<websocket::close_code>(code), reason.substr(0, 120)};
    if (open_ && !writing_ && queue_.empty()) write_close();
  }

  /// The owner has gone.
  void abandon() {
    events_ = {};
    finish();
  }

private:
  stream_type& lowest() { return beast::get_lowest_layer(ws_); }

  void connect(std::vector<endpoint> where) {
    const auto targets = std::make_shared<std::vector<endpoint>>(std::move(where));
    lowest().async_connect(
        *targets, [self = shared_from_this(), targets](const beast_error& ec, const endpoint&) {
          if (self->ended_) return;
          if (ec) return self->fail("cannot connect: " + ec.message());
          self->shake_hands();
        });
  }

  [[nodiscard]] std::string host_header() const {
    if (to_.host.empty()) return "localhost";
    const bool v6 = to_.host.find(':') != std::string::npos;
    return (v6 ? "[" + to_.host + "]" : to_.host) + ":" + std::to_string(to_.port);
  }

  void shake_hands() {
    // Small messages must not wait for each other's acknowledgements. Not for Unix sockets.
    const int now = 1;
    (void)::setsockopt(lowest().socket().native_handle(), IPPROTO_TCP, TCP_NODELAY, &now,
                       sizeof now);
    websocket::stream_base::timeout limits{};
    limits.handshake_timeout = terms_.handshake_limit;
    limits.idle_timeout = terms_.idle_limit;
    limits.keep_alive_pings = true;
    ws_.set_option(limits);
    ws_.read_message_max(terms_.frame_bytes);
    ws_.auto_fragment(false);
    ws_.text(true);
    ws_.set_option(websocket::stream_base::decorator(
        [bearer = terms_.bearer](websocket::request_type& request) {
          if (!bearer.empty()) request.set(http::field::authorization, "Bearer " + bearer);
        }));
    ws_.async_handshake(answer_, host_header(), to_.target,
                        [self = shared_from_this()](const beast_error& ec) {
                          if (!self->ended_) self->shaken(ec);
                        });
  }

  void shaken(const beast_error& ec) {
    if (ec == websocket::error::upgrade_declined) {
      end_.http_status = answer_.result_int();
      auto why = answer_.body();
      while (!why.empty() && why.back() == '\n')
        why.pop_back();
      return fail("the server answered " + std::to_string(end_.http_status) +
                  (why.empty() ? "" : ": " + why));
    }
    if (ec) return fail("the handshake failed: " + ec.message());
    limit_.cancel();
    end_.http_status = 101;
    end_.opened = open_ = true;
    answer_ = {};
    if (const auto told = events_.on_open) told();
    if (ended_) return;
    read_message();
    if (writing_) return; // the owner has sent something while it was told
    if (!queue_.empty())
      write_next();
    else if (closing_)
      write_close();
  }

  void read_message() {
    reading_ = true;
    ws_.async_read(buffer_, [self = shared_from_this()](const beast_error& ec, std::size_t) {
      self->have_message(ec);
    });
  }

  void have_message(const beast_error& ec) {
    if (ended_) return;
    if (ec) {
      if (ec == websocket::error::closed) {
        end_.code = ws_.reason().code;
        end_.reason = std::string{ws_.reason().reason.data(), ws_.reason().reason.size()};
      } else {
        end_.reason = ec.message();
      }
      return finish();
    }
    const bool text = ws_.got_text();
    if (!text && !events_.on_bytes) {
      close(1003, "text messages only");
    } else if (!closing_) {
      const auto bytes = buffer_.cdata();
      // A copy: the handler may end the client, and with it the function that runs.
      if (const auto told = text ? events_.on_text : events_.on_bytes)
        told({static_cast<const char*>(bytes.data()), bytes.size()});
    }
    if (ended_) return;
    allowance_ -= std::min(allowance_, buffer_.size());
    buffer_.consume(buffer_.size());
    // One large message does not cost its memory for the rest of the connection.
    if (buffer_.capacity() > (1U << 20U)) buffer_ = beast::flat_buffer{};
    reading_ = false;
    if (!paused_ || allowance_ > 0) return read_message();
    look_.start(terms_.paused_look, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->read_a_little();
    });
  }

  void read_a_little() {
    if (paused_left_ == 0) {
      limit_.start(terms_.idle_limit, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->end_.not_read = true;
        self->fail("nothing was read for too long");
      });
      return;
    }
    allowance_ = std::min(terms_.paused_bytes, paused_left_);
    paused_left_ -= allowance_;
    // Its pings wait behind what we do not read.
    if (!std::exchange(ponging_, true))
      ws_.async_pong({},
                     [self = shared_from_this()](const beast_error&) { self->ponging_ = false; });
    read_message();
  }

  void write_next() {
    writing_ = true;
    ws_.async_write(
        asio::buffer(queue_.front()),
        [self = shared_from_this()](const beast_error& ec, std::size_t) { self->written(ec); });
  }

  void written(const beast_error& ec) {
    if (ended_ || ec) return; // the read that is under way says why
    queued_ -= queue_.front().size();
    queue_.pop_front();
    writing_ = false;
    if (!queue_.empty())
      write_next();
    else if (closing_)
      return write_close();
    if (above_ && queued_ <= terms_.low_water) {
      above_ = false;
      if (const auto told = events_.on_drained; told && !closing_) told();
    }
  }

  void write_close() {
    // The read that is under way sees the peer's answer, or the time-out, and finishes.
    ws_.async_close(reason_, [self = shared_from_this()](const beast_error&) {});
  }

  void fail(std::string why) {
    end_.reason = std::move(why);
    finish();
  }

  void finish() {
    if (std::exchange(ended_, true)) return;
    const auto self = shared_from_this();
    limit_.cancel();
    look_.cancel();
    resolver_.cancel();
    beast_error ignored; // it is closed whatever it says
    lowest().socket().close(ignored);
    if (const auto told = std::exchange(events_, {}).on_closed) told(end_);
  }

  asio::io_context& context_;
  websocket_address to_;
  websocket_client_terms terms_;
  websocket_client_events events_;
  timer limit_;
  timer look_; ///< while reading is paused
  asio::ip::tcp::resolver resolver_;
  websocket::stream<stream_type> ws_;
  websocket::response_type answer_;
  beast::flat_buffer buffer_;
  std::deque<std::string> queue_;
  std::size_t queued_ = 0;
  std::size_t allowance_ = 0;   ///< bytes that are read although it is paused, until the next look
  std::size_t paused_left_ = 0; ///< that may be read so in all
  bool paused_ = false, reading_ = false, ponging_ = false;
  bool above_ = false, writing_ = false, open_ = false, closing_ = false, ended_ = false;
  websocket::close_reason reason_;
  websocket_end end_;
};

websocket_client::websocket_client(event_loop& loop, websocket_address to,
                                   websocket_client_terms terms, websocket_client_events events)
    : impl_{std::make_shared<impl>(loop, std::move(to), std::move(terms), std::move(events))} {
  impl_->start();
}

websocket_client::~websocket_client() {
  impl_->abandon();
}

void websocket_client::send(std::string text) {
  impl_->send(std::move(text));
}

std::size_t websocket_client::queued_bytes() const {
  return impl_->queued_bytes();
}

void websocket_client::pause_reading(std::size_t most) {
  impl_->pause_reading(most);
}

void websocket_client::resume_reading() {
  impl_->resume_reading();
}

void websocket_client::close(std::uint16_t code, const std::string& reason) {
  impl_->close(code, reason);
}

} // namespace gatehouse::reactor
