#include "reactor/http_client.hpp"

#include "protocol/ip_address.hpp"
#include "reactor/detail/event_loop_access.hpp"
#include "reactor/proxy_dial.hpp"
#include "reactor/timer.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <optional>
#include <variant>

namespace gatehouse::reactor {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
namespace http = boost::beast::http;
using tcp = boost::asio::ip::tcp;

} // namespace

struct http_client::state {
  state(event_loop& l, std::string file)
      : loop{l}, ca_file{std::move(file)}, resolver{system_resolver(l)} {}

  /// Made when it is first needed: reading the system's certificates takes milliseconds.
  result<ssl::context*> tls() {
    if (context) return &*context;
    ssl::context made{ssl::context::tls_client};
    boost::system::error_code failed;
    made.set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                         ssl::context::no_sslv3 | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1,
                     failed);
    if (!failed) made.set_verify_mode(ssl::verify_peer, failed);
    if (!failed) {
      if (ca_file.empty())
        made.set_default_verify_paths(failed);
      else
        made.load_verify_file(ca_file, failed);
    }
    if (failed)
      return error{errc::io,
                   "the certificates" + (ca_file.empty() ? std::string{} : " of " + ca_file) +
                       " cannot be read: " + failed.message(),
                   {}};
    context.emplace(std::move(made));
    return &*context;
  }

  event_loop& loop;
  std::string ca_file;
  std::shared_ptr<host_resolver> resolver;
  std::optional<ssl::context> context;
};

namespace {

/// One request on its way. Kept alive by what it waits for; given up when `done_` is gone.
class exchange : public std::enable_shared_from_this<exchange> {
public:
  using plain_stream = tcp::socket;
  using tls_stream = ssl::stream<tcp::socket>;

  exchange(std::shared_ptr<http_client::state> client, http_post request,
           std::function<void(http_end)> done)
      : client_{std::move(client)}, request_{std::move(request)}, done_{std::move(done)},
        limit_{client_->loop} {}

  void begin() {
    limit_.start(request_.limit, [self = shared_from_this()] {
      self->end({http_end::ending::timed_out,
                 0,
                 {},
                 "no answer within " + std::to_string(self->request_.limit.count()) + " ms"});
    });
    client_->loop.post([self = shared_from_this()] { self->look_up(); });
  }

  void give_up() {
    done_ = nullptr;
    limit_.cancel();
    dial_.reset();
    boost::system::error_code ignored;
    if (socket() != nullptr) socket()->close(ignored);
  }

private:
  void look_up() {
    if (!done_) return;
    if (const auto literal = parse_ip_address(request_.to.host)) return connect({*literal});
    client_->resolver->resolve(request_.to.host,
                               [self = shared_from_this()](std::vector<ip_address> found) {
                                 self->connect(std::move(found));
                               });
  }

  void connect(std::vector<ip_address> addresses) {
    if (!done_) return;
    if (addresses.empty()) return fail("the host " + request_.to.host + " is not known");
    dial_ = std::make_unique<dial>(
        client_->loop, std::move(addresses), request_.to.port, request_.limit,
        [self = shared_from_this()](result<unique_fd> made) { self->connected(std::move(made)); });
  }

  void connected(result<unique_fd> made) {
    if (!done_) return;
    const auto self = shared_from_this();
    client_->loop.post([self] { self->dial_.reset(); });
    if (!made) return fail("no connection: " + made.error().message);
    tcp::socket raw{event_loop_access::context(client_->loop)};
    boost::system::error_code failed;
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    ::getsockname(made->get(), reinterpret_cast<sockaddr*>(&own), &size);
    raw.assign(own.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), made->get(), failed);
    if (failed) return fail("no connection: " + failed.message());
    (void)made->release();
    if (!request_.to.tls) {
      stream_.emplace<plain_stream>(std::move(raw));
      return write(std::get<plain_stream>(stream_));
    }
    const auto context = client_->tls();
    if (!context) return fail(context.error().message);
    auto& stream = stream_.emplace<tls_stream>(std::move(raw), **context);
    stream.set_verify_callback(ssl::host_name_verification{request_.to.host}, failed);
    if (failed ||
        (!parse_ip_address(request_.to.host) &&
         ::SSL_set_tlsext_host_name(stream.native_handle(), request_.to.host.c_str()) != 1))
      return fail("TLS cannot be set up for " + request_.to.host);
    stream.async_handshake(tls_stream::client, [self](boost::system::error_code why) {
      if (!self->done_) return;
      if (why) return self->fail("the TLS handshake failed: " + why.message());
      self->write(std::get<tls_stream>(self->stream_));
    });
  }

  template <class Stream>
  void write(Stream& stream) {
    const auto& to = request_.to;
    message_.method(http::verb::post);
    message_.version(11);
    message_.target(to.path);
    const auto host = to.host.find(':') == std::string::npos ? to.host : "[" + to.host + "]";
    const bool usual = to.port == (to.tls ? 443 : 80);
    message_.set(http::field::host, usual ? host : host + ":" + std::to_string(to.port));
    for (const auto& [name, value] : request_.headers)
      message_.set(name, value);
    message_.set(http::field::connection, "close");
    message_.body() = std::move(request_.body);
    message_.prepare_payload();
    parser_.body_limit(request_.max_reply);
    parser_.header_limit(16 * 1024);
    http::async_write(
        stream, message_,
        [self = shared_from_this(), &stream](boost::system::error_code why, std::size_t) {
          if (!self->done_) return;
          if (why) return self->fail("the request could not be sent: " + why.message());
          self->read(stream);
        });
  }

  template <class Stream>
  void read(Stream& stream) {
    http::async_read(
        stream, buffer_, parser_,
        [self = shared_from_this()](boost::system::error_code why, std::size_t) {
          if (!self->done_) return;
          if (why == http::error::body_limit)
            return self->fail("the answer is longer than " +
                              std::to_string(self->request_.max_reply) + " bytes");
          if (why) return self->fail("no answer: " + why.message());
          auto& reply = self->parser_.get();
          self->end({http_end::ending::answered, reply.result_int(), std::move(reply.body()), {}});
        });
  }

  void fail(std::string why) { end({http_end::ending::failed, 0, {}, std::move(why)}); }

  void end(http_end how) {
    const auto self = shared_from_this();
    const auto done = std::exchange(done_, nullptr);
    give_up();
    if (done) done(std::move(how));
  }

  tcp::socket* socket() {
    if (auto* plain = std::get_if<plain_stream>(&stream_)) return plain;
    if (auto* tls = std::get_if<tls_stream>(&stream_)) return &tls->next_layer();
    return nullptr;
  }

  std::shared_ptr<http_client::state> client_;
  http_post request_;
  std::function<void(http_end)> done_;
  timer limit_;
  std::unique_ptr<dial> dial_;
  std::variant<std::monostate, plain_stream, tls_stream> stream_;
  http::request<http::string_body> message_;
  boost::beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
};

/// Gives the exchange up when nobody waits any more.
class exchange_handle {
public:
  explicit exchange_handle(std::shared_ptr<exchange> what) : what_{std::move(what)} {}
  exchange_handle(const exchange_handle&) = delete;
  exchange_handle& operator=(const exchange_handle&) = delete;
  ~exchange_handle() { what_->give_up(); }

private:
  std::shared_ptr<exchange> what_;
};

} // namespace

http_client::http_client(event_loop& loop, std::string ca_file)
    : state_{std::make_shared<state>(loop, std::move(ca_file))} {}

http_client::~http_client() = default;

std::shared_ptr<void> http_client::post(http_post request, std::function<void(http_end)> done) {
  const auto what = std::make_shared<exchange>(state_, std::move(request), std::move(done));
  what->begin();
  return std::make_shared<exchange_handle>(what);
}

} // namespace gatehouse::reactor
