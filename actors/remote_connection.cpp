#include "actors/remote_connection.hpp"

#include "actors/remote_process.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace gatehouse::actors {
namespace {

using exec_client::answer;

/// Output that was told and for whose successor nobody has asked yet: beyond it reading pauses.
constexpr std::size_t most_waiting = std::size_t{4} * 1024 * 1024;
/// Of it, with what is read meanwhile so that the server keeps the connection.
constexpr std::size_t most_kept = std::size_t{64} * 1024 * 1024;

} // namespace

remote_connection::remote_connection(reactor::event_loop& loop, remote_terms terms)
    : loop_{loop}, terms_{std::move(terms)}, retry_{loop}, greeting_{loop} {}

void remote_connection::add(const std::shared_ptr<remote_process>& one) {
  processes_.emplace(one->id(), one);
  if (ready_)
    one->line_stands();
  else if (!client_ && !retry_.pending())
    connect();
}

void remote_connection::remove(const std::string& process_id) {
  processes_.erase(process_id);
}

void remote_connection::ask(std::string_view method, std::string_view params, handler done) {
  const auto id = ++last_request_;
  waiting_.emplace(id, std::move(done));
  client_->send(exec_client::encode_request(id, method, params));
}

void remote_connection::told(std::size_t bytes) {
  waiting_bytes_ += bytes;
  hold_back();
}

void remote_connection::taken(std::size_t bytes) {
  waiting_bytes_ -= bytes;
  hold_back();
}

void remote_connection::hold_back() {
  const bool full = waiting_bytes_ > (held_ ? most_waiting / 2 : most_waiting);
  if (!client_ || full == held_) return;
  held_ = full;
  if (full)
    client_->pause_reading(most_kept - std::min(most_kept, waiting_bytes_));
  else
    client_->resume_reading();
}

void remote_connection::connect() {
  held_ = binary_ = false;
  reactor::websocket_client_terms terms;
  terms.bearer = terms_.bearer;
  const auto on_self = [weak = weak_from_this()](auto what) {
    if (const auto self = weak.lock()) what(*self);
  };
  client_ = std::make_unique<reactor::websocket_client>(
      loop_, terms_.address, std::move(terms),
      reactor::websocket_client_events{
          [on_self] { on_self([](remote_connection& self) { self.opened(); }); },
          [on_self](std::string_view text) {
            on_self([text](remote_connection& self) { self.heard(text); });
          },
          {},
          [on_self](const reactor::websocket_end& end) {
            on_self([&end](remote_connection& self) { self.lost(end); });
          },
          [on_self](std::string_view bytes) {
            on_self([bytes](remote_connection& self) { self.heard_bytes(bytes); });
          }});
  greeting_.start(terms_.greeting, [on_self] {
    on_self([](remote_connection& self) {
      reactor::websocket_end mute;
      mute.reason = "it did not answer within " + std::to_string(self.terms_.greeting.count()) +
                    " ms, so it may be no exec server";
      self.lost(mute);
    });
  });
}

void remote_connection::opened() {
  ask("initialize", exec_client::initialize_params("gatehouse", session_),
      [this](const answer& said) { greeted(said); });
}

void remote_connection::greeted(const answer& said) {
  greeting_.cancel();
  if (said.failed) {
    // The server has not noticed yet that the old connection is gone.
    if (said.failed->code == exec_server::code::session_attached) {
      if (is_too_late()) return fail("the session there stays with another connection");
      return come_back();
    }
    const bool expired = !session_.empty();
    session_.clear();
    return fail((expired ? "the session there is over: " : "it refused us: ") +
                said.failed->message);
  }
  auto greeting = exec_client::decode_greeting(said.result);
  if (!greeting) return fail(to_string(greeting.error()));
  session_ = std::move(greeting->session_id);
  binary_ = greeting->binary_output;
  client_->send(exec_client::encode_notification("initialized"));
  ready_ = true;
  lost_at_.reset();
  for (const auto& [id, one] : std::map{processes_})
    one->line_stands();
}

void remote_connection::heard(std::string_view text) {
  auto read = exec_client::decode_message(text);
  if (!read) return fail("it said what cannot be understood: " + read.error().message);
  if (auto* one = std::get_if<exec_client::process_event>(&*read)) {
    tell(std::move(*one));
  } else if (const auto* said = std::get_if<answer>(&*read)) {
    const auto node = waiting_.extract(said->id);
    if (!node.empty()) node.mapped()(*said);
  }
}

void remote_connection::heard_bytes(std::string_view bytes) {
  if (!binary_) return fail("it breaks the protocol: it sent bytes, and it had not said so");
  auto read = exec_client::decode_output(bytes);
  if (!read) return fail("it said what cannot be understood: " + read.error().message);
  tell(*std::move(read));
}

void remote_connection::tell(exec_client::process_event one) {
  const auto found = processes_.find(one.process_id);
  if (found == processes_.end()) return;
  const auto of = found->second;
  of->hear(std::move(one));
}

void remote_connection::lost(const reactor::websocket_end& end) {
  const bool before = ready_;
  ready_ = false;
  greeting_.cancel();
  waiting_.clear();
  client_.reset();
  const auto why = end.reason.empty() ? std::string{"the connection ended"} : end.reason;
  if (session_.empty()) // it never stood
    return fail(end.http_status == 401 ? "it wants another token" : why);
  if (end.not_read) return fail("nobody takes the output of its commands");
  if (before) lost_at_ = loop_.now();
  if (is_too_late()) return fail("the connection did not come back: " + why);
  if (processes_.empty()) {
    session_.clear(); // with the next command a new one begins
    return;
  }
  come_back();
}

bool remote_connection::is_too_late() const {
  return lost_at_ && loop_.now() - *lost_at_ > terms_.recovery;
}

void remote_connection::come_back() {
  ready_ = false;
  waiting_.clear();
  client_.reset();
  retry_.start(terms_.retry, [this] { connect(); });
}

void remote_connection::fail(const std::string& why) {
  ready_ = false;
  greeting_.cancel();
  session_.clear();
  waiting_.clear();
  client_.reset();
  lost_at_.reset();
  for (const auto& [id, one] : std::exchange(processes_, {}))
    one->line_lost(terms_.name + ": " + why);
}

} // namespace gatehouse::actors
