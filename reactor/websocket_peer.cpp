#include "reactor/detail/websocket_peer.hpp"
#include "protocol/ascii_text.hpp"
#include "reactor/timer.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <array>
#include <chrono>
#include <deque>
#include <string>
#include <string_view>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace gatehouse::reactor::detail {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;

namespace {

using beast_error = beast::error_code;

/// No limit of a stream's rate; it counts what was written.
class write_counter {
public:
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }

private:
  friend class beast::rate_policy_access;
  static constexpr std::size_t all = std::size_t(-1);
  [[nodiscard]] std::size_t available_read_bytes() const noexcept { return all; }
  [[nodiscard]] std::size_t available_write_bytes() const noexcept { return all; }
  void transfer_read_bytes(std::size_t) noexcept {}
  void transfer_write_bytes(std::size_t n) noexcept { written_ += n; }
  void on_timer() noexcept {}

  std::uint64_t written_ = 0;
};

using counted_stream = beast::basic_stream<asio::generic::stream_protocol,
                                           asio::io_context::executor_type, write_counter>;

/// A stream that Beast leaves open when a WebSocket ends: its own way of closing ends over bytes
/// that were not read, and the reset of that takes the close frame with it.
class stream_type : public counted_stream {
public:
  using counted_stream::counted_stream;
};

/// Beast calls it by argument-dependent lookup; `peer` reads on and closes.
template <class Handler>
void async_teardown(beast::role_type, stream_type& stream, Handler&& handler) {
  asio::post(stream.get_executor(),
             beast::bind_front_handler(std::forward<Handler>(handler), beast_error{}));
}

std::optional<std::uint32_t> peer_uid_of(int fd) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return std::nullopt;
  return peer.uid;
}

class peer : public websocket_peer, public std::enable_shared_from_this<peer> {
public:
  peer(std::shared_ptr<websocket_home> home, stream_socket socket)
      : home_{std::move(home)}, ws_{std::move(socket)}, number_{++home_->accepted},
        patience_{home_->loop} {}

  void start() override {
    ++home_->waiting;
    due_ = std::chrono::steady_clock::now() + home_->terms.handshake_limit;
    // Small messages must not wait for each other's acknowledgements. Not for Unix sockets.
    const int now = 1;
    (void)::setsockopt(beast::get_lowest_layer(ws_).socket().native_handle(), IPPROTO_TCP,
                       TCP_NODELAY, &now, sizeof now);
    read_request();
  }

  void send(std::string text) override { enqueue({std::move(text), nullptr}); }
  void send_bytes(std::string head, std::shared_ptr<const std::string> bytes) override {
    enqueue({std::move(head), std::move(bytes)});
  }

  [[nodiscard]] std::size_t queued_bytes() const override { return queued_; }

  void close(std::uint16_t code, const std::string& reason) override {
    if (closing_ || ended_) return;
    closing_ = true;
    // A close frame holds at most 123 bytes of reason.
    reason_ =
        websocket::close_reason{static_cast<websocket::close_code>(code), reason.substr(0, 120)};
    if (queue_.empty()) return write_close();
    patience_.start(home_->terms.stuck_limit, [self = shared_from_this()] { self->finish(); });
  }

  [[nodiscard]] bool stands() const noexcept override { return !ended_; }

  [[nodiscard]] std::optional<std::pair<int, std::uint64_t>> rank() const noexcept override {
    if (open_) return std::nullopt;
    return std::pair{ended_ || sent_away_ ? 0 : requests_ > 0 ? 1 : 2, number_};
  }

  void send_away() override {
    if (ended_ || std::exchange(sent_away_, true)) return drop();
    // What is under way ends with an error; a request that was awaited is answered then.
    beast::get_lowest_layer(ws_).cancel();
  }

  void abandon() override {
    events_ = {};
    ended_ = true;
    patience_.cancel();
    drop();
  }

private:
  struct outgoing {
    std::string text;                         ///< all of it, or what stands before `bytes`
    std::shared_ptr<const std::string> bytes; ///< of a binary one
    [[nodiscard]] std::size_t size() const { return text.size() + (bytes ? bytes->size() : 0); }
  };

  void enqueue(outgoing what) {
    if (closing_ || ended_) return;
    queued_ += what.size();
    if (queued_ > home_->terms.low_water) above_ = true;
    queue_.push_back(std::move(what));
    if (queue_.size() > 1) return cork(true);
    write_next();
    watch_the_reader();
  }

  void read_request() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(home_->terms.header_bytes));
    parser_->body_limit(home_->terms.body_bytes);
    beast::get_lowest_layer(ws_).expires_at(due_);
    http::async_read(ws_.next_layer(), buffer_, *parser_,
                     [self = shared_from_this()](const beast_error& ec, std::size_t) {
                       self->have_request(ec);
                     });
  }

  [[nodiscard]] http_request facts() {
    const auto& message = parser_->get();
    http_request request;
    request.method = std::string{message.method_string()};
    request.target = std::string{message.target()};
    request.body = message.body();
    for (const auto& field : message)
      request.headers.emplace_back(to_lower_ascii(field.name_string()), std::string{field.value()});
    request.upgrade = websocket::is_upgrade(message);
    request.local_socket = home_->local_socket;
    if (request.local_socket)
      request.peer_uid = peer_uid_of(beast::get_lowest_layer(ws_).socket().native_handle());
    request.port = home_->port;
    return request;
  }

  void have_request(const beast_error& ec) {
    if (ended_) return;
    if (sent_away_)
      return answer({503, {{"retry-after", "1"}}, "too many connections wait\n"}, false);
    if (ec) {
      if (ec == http::error::end_of_stream || ec == beast::error::timeout ||
          ec == asio::error::operation_aborted || ec == asio::error::eof ||
          ec == asio::error::connection_reset)
        return finish();
      // Malformed: said once, then the end.
      return answer({ec == http::error::header_limit ? 431U
                     : ec == http::error::body_limit ? 413U
                                                     : 400U,
                     {},
                     "this is not a request that can be read\n"},
                    false);
    }
    ++requests_;
    const auto request = facts();
    auto verdict = home_->judge_request(request);
    if (verdict.status == 101 && request.upgrade) {
      // Frames before our answer would be lost, and the client would wait for what never comes.
      if (buffer_.size() > 0)
        return answer({400, {}, "frames come after the answer to the handshake\n"}, false);
      return upgrade(request, verdict);
    }
    if (verdict.status == 101)
      verdict = {426, {{"upgrade", "websocket"}}, "a WebSocket is needed\n"};
    answer(verdict, parser_->get().keep_alive() && requests_ < home_->terms.requests);
  }

  void answer(const http_answer& what, bool keep) {
    auto response = std::make_shared<http::response<http::string_body>>();
    response->version(11);
    response->result(what.status);
    response->set(http::field::server, home_->terms.server_name);
    for (const auto& [name, value] : what.headers)
      response->insert(name, value);
    response->body() = what.body;
    response->keep_alive(keep);
    response->prepare_payload();
    // The length stands for what GET would give.
    if (parser_->get().method() == http::verb::head) response->body().clear();
    beast::get_lowest_layer(ws_).expires_at(due_);
    http::async_write(
        ws_.next_layer(), *response,
        [self = shared_from_this(), response, keep](const beast_error& ec, std::size_t) {
          if (self->ended_) return;
          if (ec) return self->finish();
          if (!keep || self->sent_away_) return self->leave();
          self->read_request();
        });
  }

  void upgrade(const http_request& request, const http_answer& verdict) {
    beast::get_lowest_layer(ws_).expires_never();
    websocket::stream_base::timeout limits{};
    limits.handshake_timeout = home_->terms.handshake_limit;
    limits.idle_timeout = home_->terms.idle_limit;
    limits.keep_alive_pings = true;
    ws_.set_option(limits);
    ws_.read_message_max(home_->terms.frame_bytes);
    ws_.auto_fragment(false);
    ws_.set_option(websocket::stream_base::decorator(
        [extra = verdict.headers,
         name = home_->terms.server_name](websocket::response_type& response) {
          response.set(http::field::server, name);
          for (const auto& [key, value] : extra)
            response.set(key, value);
        }));
    ws_.async_accept(parser_->get(), [self = shared_from_this(), request](const beast_error& ec) {
      if (self->ended_) return;
      if (ec) return self->finish();
      self->opened(request);
    });
  }

  void opened(const http_request& request) {
    open_ = true;
    --home_->waiting;
    parser_.reset();
    buffer_.consume(buffer_.size());
    events_ = home_->open(request, shared_from_this());
    read_message();
  }

  void read_message() {
    ws_.async_read(buffer_, [self = shared_from_this()](const beast_error& ec, std::size_t) {
      self->have_message(ec);
    });
  }

  void have_message(const beast_error& ec) {
    if (ended_) return;
    if (ec) return leave();
    if (!ws_.got_text()) {
      close(1003, "text messages only");
      buffer_.consume(buffer_.size());
      return read_message();
    }
    if (!closing_ && events_.on_text) {
      const auto bytes = buffer_.cdata();
      events_.on_text({static_cast<const char*>(bytes.data()), bytes.size()});
    }
    if (ended_) return;
    buffer_.consume(buffer_.size());
    // One large message does not cost its memory for the rest of the connection.
    if (buffer_.capacity() > (1U << 20U)) buffer_ = beast::flat_buffer{};
    read_message();
  }

  void write_next() {
    const auto& what = queue_.front();
    ws_.binary(what.bytes != nullptr);
    const std::array parts{asio::buffer(what.text),
                           what.bytes ? asio::buffer(*what.bytes) : asio::const_buffer{}};
    ws_.async_write(parts, [self = shared_from_this()](const beast_error& ec, std::size_t) {
      self->written(ec);
    });
  }

  void written(const beast_error& ec) {
    if (ended_) return;
    if (ec) return finish();
    queued_ -= queue_.front().size();
    queue_.pop_front();
    if (!queue_.empty()) {
      write_next();
    } else {
      patience_.cancel();
      cork(false);
      if (closing_) return write_close();
    }
    if (above_ && queued_ <= home_->terms.low_water) {
      above_ = false;
      if (events_.on_drained && !closing_) events_.on_drained();
    }
  }

  /// While messages wait for each other the kernel makes full packets of them: the peer need not be
  /// woken for each. Not for Unix sockets.
  void cork(bool on) {
    if (std::exchange(corked_, on) == on) return;
    const int value = on ? 1 : 0;
    (void)::setsockopt(beast::get_lowest_layer(ws_).socket().native_handle(), IPPROTO_TCP, TCP_CORK,
                       &value, sizeof value);
  }

  /// Looks now and then whether the peer takes anything of what waits for it. What it sends is no
  /// sign of that.
  void watch_the_reader() {
    looks_left_ = looks;
    look_at_the_reader();
  }

  void look_at_the_reader() {
    const auto taken = beast::get_lowest_layer(ws_).rate_policy().written();
    if (std::exchange(taken_, taken) != taken) looks_left_ = looks;
    // Nothing can be said to it at its end: a part of a message is in the way.
    if (looks_left_ == 0) return finish();
    --looks_left_;
    patience_.start(std::chrono::milliseconds{home_->terms.stuck_limit} / looks,
                    [self = shared_from_this()] { self->look_at_the_reader(); });
  }

  void write_close() {
    // The read that is under way sees the peer's answer, or the time-out, and finishes.
    ws_.async_close(reason_, [self = shared_from_this()](const beast_error&) {});
  }

  /// Ends it at once.
  void finish() {
    if (ended_) return;
    const auto self = shared_from_this();
    end();
    drop();
  }

  /// Ends it, but reads on for a moment: to close over bytes that were not read is a reset, and a
  /// reset takes with it what was said last, which may be why the connection ends.
  void leave() {
    if (ended_) return;
    end();
    beast_error ignored; // the peer may be gone
    beast::get_lowest_layer(ws_).socket().shutdown(asio::socket_base::shutdown_send, ignored);
    beast::get_lowest_layer(ws_).expires_after(home_->terms.last_words);
    left_at_ = std::chrono::steady_clock::now();
    discard();
  }

  void discard() {
    buffer_.clear();
    ws_.next_layer().async_read_some(
        buffer_.prepare(std::size_t{64} << 10U),
        [self = shared_from_this()](const beast_error& ec, std::size_t bytes) {
          if (ec || bytes > self->unread_) return self->drop();
          self->unread_ -= bytes;
          // A peer that was let in and is still sending a message reads nothing before its end.
          const auto& terms = self->home_->terms;
          if (self->open_ &&
              std::chrono::steady_clock::now() < self->left_at_ + terms.longest_leave)
            beast::get_lowest_layer(self->ws_).expires_after(terms.last_words);
          self->discard();
        });
  }

  void end() {
    ended_ = true;
    patience_.cancel();
    if (queue_.size() > 1) queue_.resize(1); // the first may be under way
    if (const auto closed = std::exchange(events_, {}).on_closed) closed();
  }

  void drop() {
    if (std::exchange(dropped_, true)) return;
    const auto self = shared_from_this();
    if (!open_) --home_->waiting;
    beast_error ignored; // it is closed whatever it says
    beast::get_lowest_layer(ws_).socket().close(ignored);
    home_->peers.erase(self);
  }

  std::shared_ptr<websocket_home> home_;
  websocket::stream<stream_type> ws_;
  const std::uint64_t number_;
  std::chrono::steady_clock::time_point due_; ///< of the upgrade
  std::size_t requests_ = 0;
  static constexpr int looks = 6; ///< until the limit
  timer patience_;                ///< with a peer that does not read
  std::uint64_t taken_ = 0;       ///< by the peer, at the last look
  int looks_left_ = 0;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  websocket_events events_;
  std::deque<outgoing> queue_;
  std::size_t queued_ = 0;
  bool above_ = false;
  bool corked_ = false;
  std::chrono::steady_clock::time_point left_at_;
  std::size_t unread_ = std::size_t{128} << 20U; ///< that may be thrown away at the end
  bool open_ = false, sent_away_ = false, closing_ = false, ended_ = false, dropped_ = false;
  websocket::close_reason reason_;
};

} // namespace

std::shared_ptr<websocket_peer> make_websocket_peer(std::shared_ptr<websocket_home> home,
                                                    stream_socket socket) {
  return std::make_shared<peer>(std::move(home), std::move(socket));
}

} // namespace gatehouse::reactor::detail
