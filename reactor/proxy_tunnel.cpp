#include "reactor/detail/proxy_connection.hpp"
#include "reactor/proxy_answers.hpp"

#include <utility>

#include <sys/socket.h>

/// What a connection does once its server is there: its part of detail/proxy_connection.hpp.
namespace gatehouse::reactor {

void proxy_connection::inspect() {
  if (step_ != step::inspecting || sending_ || !down_) return;
  if (later_hello_) return inspect_later_hello();
  request_ ? inspect_request() : inspect_hello();
}

void proxy_connection::inspect_hello() {
  switch (hello_.look(early_)) {
  case client_hello_reader::state::more: return read_client();
  case client_hello_reader::state::bad:
    terms_->gate->unreadable(facts_, network_refusal::malformed,
                             "TLS: it begins with something else than a good ClientHello");
    return refuse_inside(tls_access_denied());
  case client_hello_reader::state::done:
    if (const auto& name = hello_.hello().server_name; name && !agrees(*name, named_by::tls))
      return refuse_inside(tls_access_denied());
    later_hello_.emplace(hello_.hello());
    return pass_on(hello_.taken());
  case client_hello_reader::state::not_tls:
    // Who asks for a granted port itself has named no server to agree with.
    if (terms_->target) return pump_up();
    request_.emplace();
    return inspect_request();
  }
}

void proxy_connection::inspect_later_hello() {
  std::size_t taken = 0;
  switch (later_hello_->look(early_, taken)) {
  case later_hello_reader::state::more: return taken > 0 ? pass_on(taken) : read_client();
  case later_hello_reader::state::over: return pump_up();
  case later_hello_reader::state::bad:
    terms_->gate->unreadable(facts_, network_refusal::malformed,
                             "TLS: what follows the ClientHello breaks the rules");
    return refuse_inside(tls_access_denied());
  case later_hello_reader::state::hello:
    if (const auto& name = later_hello_->hello().server_name; name && !agrees(*name, named_by::tls))
      return refuse_inside(tls_access_denied());
    return pass_on(taken);
  }
}

void proxy_connection::inspect_request() {
  const auto state = request_->feed(std::string_view{early_}.substr(looked_at_));
  looked_at_ = early_.size();
  switch (state) {
  case tunnel_request_reader::state::more:
    if (request_->is_request() ? early_.size() < http_head_reader::most_bytes : early_.empty())
      return read_client();
    if (!request_->is_request()) return pass_on(early_.size());
    [[fallthrough]]; // longer than the head of a plain request may be
  case tunnel_request_reader::state::bad:
    terms_->gate->unreadable(facts_, network_refusal::malformed,
                             "HTTP: a request whose server cannot be told");
    return refuse_inside(proxy_answer(400, "",
                                      "The request was not understood by the Gatehouse proxy: its "
                                      "server cannot be told."));
  case tunnel_request_reader::state::not_http: return pump_up();
  case tunnel_request_reader::state::done: return judge_request();
  }
}

void proxy_connection::judge_request() {
  for (const auto& name : request_->named())
    if (!agrees(name, named_by::http))
      return refuse_inside(
          proxy_answer(403, to_string(network_refusal::names_disagree), disagreement_));
  pump_up();
}

/// The client has ended its side within what may be a head: some servers take it for whole.
void proxy_connection::end_request() {
  const auto state = request_->feed("\r\n\r\n");
  if (state == tunnel_request_reader::state::done) return judge_request();
  if (state == tunnel_request_reader::state::not_http) return pump_up();
  refuse_inside({});
}

bool proxy_connection::agrees(std::string_view named, named_by by) {
  auto why_not = terms_->gate->disagreement(facts_, host_, named, by);
  if (!why_not) return true;
  disagreement_ = *std::move(why_not);
  return false;
}

/// The server gets no byte more, and a reset: at an end it might act on what it has.
void proxy_connection::refuse_inside(std::string answer) {
  down_->abandon();
  const linger at_once{1, 0};
  ::setsockopt(server_->get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  server_->close();
  answer_and_leave(std::move(answer));
}

/// Sends on what has been looked at, and looks at what follows.
void proxy_connection::pass_on(std::size_t size) {
  touch();
  sending_ = true;
  auto bytes = early_.substr(0, size);
  early_.erase(0, size);
  looked_at_ = 0;
  write(server_, std::move(bytes), [self = shared_from_this()] {
    self->sending_ = false;
    self->inspect();
  });
}

/// From here on the client's bytes go through unread.
void proxy_connection::pump_up() {
  step_ = step::relaying;
  up_ = std::make_shared<byte_pump>(client_, server_, terms_->pipes,
                                    byte_pump::listener{[this] { touch(); },
                                                        [this](bool whole) {
                                                          up_ended_ = true;
                                                          watch_client();
                                                          relay_ended(whole);
                                                        }});
  write(server_, std::exchange(early_, {}), [self = shared_from_this()] {
    if (self->up_) self->up_->start();
  });
}

void proxy_connection::pump_down() {
  down_ = std::make_shared<byte_pump>(server_, client_, terms_->pipes,
                                      byte_pump::listener{[this] {
                                                            answered_ = true;
                                                            touch();
                                                          },
                                                          [this](bool whole) {
                                                            down_ended_ = true;
                                                            if (body_ && whole) return leave();
                                                            relay_ended(whole);
                                                          }});
  down_->start();
}

void proxy_connection::relay_ended(bool whole) {
  if (!whole || (up_ended_ && down_ended_)) end();
}

} // namespace gatehouse::reactor
