#include "reactor/detail/proxy_connection.hpp"

#include "reactor/proxy_answers.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace gatehouse::reactor {
namespace {

/// What is kept of what a client sends ahead; then it waits.
constexpr std::size_t most_early = std::size_t{64} * 1024;
/// For a refused client to read its answer.
constexpr std::chrono::milliseconds farewell{2000};
constexpr char socks5_first = 5, socks4_first = 4;

/// A client that has closed its socket looks like one that still listens. Its kernel tells the
/// difference to whoever asks after a minute.
void ask_whether_alive(int socket) {
  const int on = 1, seconds = 10, tries = 3;
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

} // namespace

proxy_connection::proxy_connection(
    std::shared_ptr<const proxy_terms> terms, unique_fd client,
    std::function<void(const std::shared_ptr<proxy_connection>&)> gone)
    : terms_{std::move(terms)}, gone_{std::move(gone)},
      client_{std::make_shared<watched_fd>(terms_->loop, std::move(client))}, limit_{terms_->loop} {
  const int on = 1;
  ::setsockopt(client_->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ask_whether_alive(client_->get());
}

void proxy_connection::start() {
  last_bytes_ = terms_->loop.now();
  if (terms_->target) {
    facts_.protocol = network_protocol::socks5_tcp;
    facts_.host = terms_->target->host;
    facts_.port = terms_->target->port;
    return decide();
  }
  limit_.start(terms_->limits.request, [this] {
    fail(408, socks5_reply::expired,
         "No whole request came to the Gatehouse proxy within the time limit: send it at once.");
  });
  read_client();
}

void proxy_connection::abandon() {
  gone_ = nullptr;
  end();
}

void proxy_connection::end() {
  if (step_ == step::over) return;
  const auto keep = shared_from_this();
  step_ = step::over;
  close_all();
  if (const auto gone = std::exchange(gone_, nullptr)) gone(keep);
}

void proxy_connection::close_all() {
  limit_.cancel();
  question_.reset();
  dial_.reset();
  for (auto* pump : {&up_, &down_})
    if (*pump) std::exchange(*pump, nullptr)->abandon();
  client_->close();
  if (server_) server_->close();
}

std::optional<clock::time_point> proxy_connection::maybe_left() const {
  if (step_ == step::over || !(ended_ || up_ended_)) return std::nullopt;
  return last_bytes_;
}

/// Reads while there is something to learn from the client, and room for what it says.
void proxy_connection::read_client() {
  if (reading_ || ended_) return;
  if (early_.size() >= most_early && step_ != step::leaving) return watch_client();
  reading_ = true;
  client_->when_readable([self = shared_from_this()] {
    self->reading_ = false;
    // A tunnel's bytes belong to its pump.
    if (self->step_ == step::over || (self->step_ == step::relaying && !self->body_)) return;
    std::array<char, 16 * 1024> chunk;
    const auto n = ::recv(self->client_->get(), chunk.data(), chunk.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return self->read_client();
    if (n > 0) return self->took({chunk.data(), static_cast<std::size_t>(n)});
    n == 0 ? self->client_ended() : self->end();
  });
}

/// Whoever has said everything may still listen; anybody else has left.
void proxy_connection::client_ended() {
  if (step_ == step::inspecting) {
    if (sending_ || !down_) return; // it is seen again
    return request_ ? end_request() : pump_up();
  }
  if (!has_said_all()) return end();
  ended_ = true;
  watch_client();
}

bool proxy_connection::has_said_all() const {
  if (step_ == step::relaying) return body_->done();
  if (step_ != step::deciding && step_ != step::resolving && step_ != step::dialling) return false;
  if (facts_.protocol != network_protocol::http) return !early_.empty();
  http_body_reader body{http_.head()};
  body.feed(early_);
  return body.done();
}

/// Nothing is read from it, and yet it may break.
void proxy_connection::watch_client() {
  if (std::exchange(watching_, true)) return;
  client_->when_failed([self = shared_from_this()] {
    self->watching_ = false;
    int failure = 0;
    socklen_t size = sizeof failure;
    if (self->step_ == step::over) return;
    ::getsockopt(self->client_->get(), SOL_SOCKET, SO_ERROR, &failure, &size);
    if (failure != 0) self->end();
  });
}

void proxy_connection::took(std::string_view bytes) {
  if (step_ == step::first_bytes) {
    const char first = bytes.front();
    step_ = first == socks5_first || first == socks4_first ? step::socks : step::http_head;
    facts_.protocol = step_ == step::socks ? network_protocol::socks5_tcp : network_protocol::http;
  }
  switch (step_) {
  case step::http_head: return feed_http(bytes);
  case step::socks: return feed_socks(bytes);
  case step::inspecting: early_ += bytes; return inspect();
  case step::relaying:
    if (body_->done()) return behind_request(bytes);
    if (!sending_) return forward_body(bytes);
    early_ += bytes;
    return;
  case step::leaving: return read_client();
  case step::deciding:
  case step::resolving:
  case step::dialling: early_ += bytes; return read_client();
  default: return;
  }
}

void proxy_connection::feed_http(std::string_view bytes) {
  std::size_t taken = 0;
  switch (http_.feed(bytes, taken)) {
  case http_head_reader::state::more: return read_client();
  case http_head_reader::state::bad:
    facts_.host = http_.head().host;
    facts_.port = http_.head().port;
    facts_.method = http_.head().connect ? std::string{} : http_.head().method;
    if (http_.head().connect) facts_.protocol = network_protocol::https;
    terms_->gate->unreadable(facts_, http_.reason(), "HTTP: " + http_.why());
    return answer_and_leave(proxy_answer(
        http_.status(), "",
        "The request was not understood by the Gatehouse proxy: " + http_.why() + "."));
  case http_head_reader::state::done: break;
  }
  const auto& head = http_.head();
  early_ = std::string{bytes.substr(taken)};
  facts_.protocol = head.connect ? network_protocol::https : network_protocol::http;
  facts_.host = head.host;
  facts_.port = head.port;
  facts_.also_named = head.host_headers;
  if (!head.connect) facts_.method = head.method;
  decide();
}

void proxy_connection::feed_socks(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t taken = 0;
    const auto reached = socks_.feed(bytes, taken);
    bytes.remove_prefix(taken);
    switch (reached) {
    case socks5_reader::state::more: break;
    case socks5_reader::state::greeted:
      return write(client_, socks5_greeting_answer(),
                   [self = shared_from_this(), rest = std::string{bytes}] {
                     rest.empty() ? self->read_client() : self->feed_socks(rest);
                   });
    case socks5_reader::state::bad:
      facts_.host = socks_.host();
      facts_.port = socks_.port();
      if (socks_.udp()) facts_.protocol = network_protocol::socks5_udp;
      terms_->gate->unreadable(facts_, socks_.reason(), std::string{socks_.why()});
      return answer_and_leave(socks_.refusal());
    case socks5_reader::state::done:
      facts_.host = socks_.host();
      facts_.port = socks_.port();
      early_ = std::string{bytes};
      return decide();
    }
  }
  read_client();
}

void proxy_connection::decide() {
  step_ = step::deciding;
  limit_.cancel(); // a person may be asked
  read_client();
  auto question =
      terms_->gate->decide(facts_, [weak = weak_from_this()](const connection_verdict& verdict) {
        if (const auto self = weak.lock()) self->decided(verdict);
      });
  if (step_ == step::deciding) question_ = std::move(question);
}

void proxy_connection::decided(const connection_verdict& verdict) {
  if (step_ != step::deciding) return;
  question_.reset();
  if (!verdict.allowed) return refuse(verdict.reason, verdict.message);
  host_ = verdict.host;
  resolve();
}

void proxy_connection::resolve() {
  step_ = step::resolving;
  if (const auto literal = parse_ip_address(host_)) return resolved({*literal});
  if (host_ == "localhost") return resolved({ipv4_address(0x7f000001), *parse_ip_address("::1")});
  limit_.start(terms_->limits.connect, [this] {
    fail(
        504, socks5_reply::host_unreachable,
        "The name " + host_ +
            " could not be resolved in time on this machine. The host itself is allowed: try again "
            "later, or tell the user.");
  });
  terms_->resolver->resolve(host_, [weak = weak_from_this()](const std::vector<ip_address>& found) {
    if (const auto self = weak.lock()) self->resolved(found);
  });
}

void proxy_connection::resolved(const std::vector<ip_address>& addresses) {
  if (step_ != step::resolving) return;
  limit_.cancel();
  if (addresses.empty())
    return fail(
        502, socks5_reply::host_unreachable,
        "The name " + host_ +
            " has no address: it does not exist, or name resolution "
            "fails on this machine. The host itself is allowed: check the name, or tell the "
            "user.");
  auto verdict = terms_->gate->check(facts_, host_, addresses);
  if (verdict.allowed.empty()) return refuse(verdict.reason, verdict.message);
  step_ = step::dialling;
  dial_ = std::make_unique<dial>(terms_->loop, std::move(verdict.allowed), facts_.port,
                                 terms_->limits.connect,
                                 [this](result<unique_fd> socket) { dialled(std::move(socket)); });
}

void proxy_connection::dialled(result<unique_fd> socket) {
  const auto keep = shared_from_this();
  dial_.reset();
  if (!socket)
    return fail(502, socks5_reply::host_unreachable,
                "No connection to " + host_and_port(host_, facts_.port, true) + ": " +
                    socket.error().message +
                    ". The host itself is allowed: try again later, or tell the user.");
  server_ = std::make_shared<watched_fd>(terms_->loop, std::move(*socket));
  touch();
  if (facts_.protocol == network_protocol::http) {
    body_.emplace(http_.head());
    return write(server_, head_for_server(http_.head(), host_and_port(host_, facts_.port, false)),
                 [self = shared_from_this()] {
                   self->step_ = step::relaying;
                   self->pump_down();
                   self->forward_body(std::exchange(self->early_, {}));
                 });
  }
  step_ = step::inspecting;
  ended_ = false; // its end will be seen again, and passed on
  const auto go_on = [self = shared_from_this()] {
    self->pump_down();
    self->inspect();
  };
  if (terms_->target) return go_on();
  write(client_,
        facts_.protocol == network_protocol::https ? tunnel_established()
                                                   : socks5_answer(socks5_reply::succeeded),
        go_on);
}

/// Passes on what belongs to the one request that was judged, and nothing behind it.
void proxy_connection::forward_body(std::string_view bytes) {
  const auto used = body_->feed(bytes);
  if (body_->bad()) {
    terms_->gate->unreadable(facts_, network_refusal::malformed,
                             "HTTP: the body of the request breaks the rules");
    return end();
  }
  touch();
  sending_ = true;
  write(server_, std::string{bytes.substr(0, used)}, [self = shared_from_this()] {
    self->sending_ = false;
    if (self->early_.empty() || self->body_->done()) return self->read_client();
    self->forward_body(std::exchange(self->early_, {}));
  });
}

/// Sent ahead of the answer it is nobody's. Behind it: the client holds the answer for whole,
/// though its server keeps the connection, and asks again on another one when this one ends.
void proxy_connection::behind_request(std::string_view bytes) {
  if (!answered_ || bytes.find_first_not_of("\r\n") == std::string_view::npos) {
    early_ += bytes; // so that it has an end
    return read_client();
  }
  down_->abandon();
  server_->close();
  ::shutdown(client_->get(), SHUT_WR);
  leave();
}

/// The idle limit is looked at when it could have passed, not set anew with every byte.
void proxy_connection::touch() {
  last_bytes_ = terms_->loop.now();
  if (limit_.pending()) return;
  limit_.start_at(last_bytes_ + terms_->limits.idle, [this] {
    if (terms_->loop.now() - last_bytes_ >= terms_->limits.idle) return end();
    const auto last = last_bytes_;
    touch();
    last_bytes_ = last;
  });
}

void proxy_connection::refuse(network_refusal reason, const std::string& message) {
  if (facts_.protocol == network_protocol::socks5_tcp)
    return answer_and_leave(terms_->target ? std::string{}
                                           : socks5_answer(socks5_reply::not_allowed));
  answer_and_leave(proxy_answer(403, to_string(reason), message));
}

void proxy_connection::fail(int status, socks5_reply reply, const std::string& message) {
  if (step_ == step::first_bytes) return end(); // it has not said a word
  if (facts_.protocol == network_protocol::socks5_tcp)
    return answer_and_leave(terms_->target ? std::string{} : socks5_answer(reply));
  answer_and_leave(proxy_answer(status, "", message));
}

void proxy_connection::answer_and_leave(std::string answer) {
  if (step_ == step::over) return;
  step_ = step::leaving;
  question_.reset();
  dial_.reset();
  early_.clear();
  limit_.start(farewell, [this] { end(); });
  write(client_, std::move(answer), [self = shared_from_this()] {
    ::shutdown(self->client_->get(), SHUT_WR);
    self->leave();
  });
}

/// Closed with unread bytes, the kernel would throw the answer away: waits for the client to go.
void proxy_connection::leave() {
  step_ = step::leaving;
  ended_ = false;
  limit_.start(farewell, [this] { end(); });
  read_client();
}

void proxy_connection::write(const std::shared_ptr<watched_fd>& to, std::string bytes,
                             std::function<void()> then) {
  while (!bytes.empty()) {
    const auto n = ::send(to->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN)
      return to->when_writable([self = shared_from_this(), to, rest = std::move(bytes),
                                then = std::move(then)]() mutable {
        if (self->step_ != step::over) self->write(to, std::move(rest), std::move(then));
      });
    if (n < 0) return end();
    bytes.erase(0, static_cast<std::size_t>(n));
  }
  if (step_ != step::over) then();
}

} // namespace gatehouse::reactor
