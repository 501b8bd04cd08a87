#include "cli/exec_server.hpp"

#include <utility>

namespace gatehouse::cli {
namespace {

using namespace exec_server;

constexpr int close_as_policy_violation = 1008;

} // namespace

/// One connection.
class exec_server_host::client : public std::enable_shared_from_this<client> {
public:
  client(exec_server_host& host, std::shared_ptr<actors::client_port> channel)
      : host_{host}, channel_{std::move(channel)} {}

  void take(std::string_view text);
  void closed() {
    if (session_) host_.detach(session_);
    session_.reset();
    channel_ = nullptr;
  }
  void drained() {
    if (session_) session_->drained();
  }

private:
  void initialize_session(const incoming& request);
  void fail(std::string_view id, const failure& why) {
    if (channel_) channel_->send(encode_failure(id, why));
  }

  exec_server_host& host_;
  std::shared_ptr<actors::client_port> channel_;
  std::shared_ptr<exec_session> session_;
  bool ready_ = false;
};

void exec_server_host::client::take(std::string_view text) {
  if (!channel_) return;
  const auto in = parse_incoming(text);
  switch (in.kind) {
  case incoming_kind::malformed:
    return fail("-1", {code::invalid_request, "failed to read the message: " + in.why, {}, {}});
  case incoming_kind::response:
    return channel_->close(close_as_policy_violation, "nobody asked for this answer");
  case incoming_kind::notification:
    if (in.method == "initialized" && session_ && !ready_)
      ready_ = true;
    else
      channel_->close(close_as_policy_violation, "unknown notification");
    return;
  case incoming_kind::request: break;
  }
  if (in.method == "initialize") return initialize_session(in);
  if (!session_ || !ready_)
    return fail(in.id,
                {code::invalid_request,
                 std::string{"client must "} + (session_ ? "send initialized" : "call initialize") +
                     " before `" + in.method + "`",
                 {},
                 {}});
  const std::weak_ptr<client> weak = shared_from_this();
  session_->call(in,
                 [weak, id = in.id](const std::string& json, const std::optional<failure>& why) {
                   const auto self = weak.lock();
                   if (!self || !self->channel_) return;
                   self->channel_->send(why ? encode_failure(id, *why) : encode_result(id, json));
                 });
}

void exec_server_host::client::initialize_session(const incoming& request) {
  if (session_)
    return fail(request.id,
                {code::invalid_request, "initialize may only be sent once per connection", {}, {}});
  const auto order = decode_initialize(request.params);
  if (!order) return fail(request.id, {code::invalid_params, order.error().message, {}, {}});
  auto found = host_.resume(order->resume_session_id);
  if (!found)
    return fail(request.id,
                {code::invalid_request, "unknown session id " + order->resume_session_id, {}, {}});
  if (found->attached())
    return fail(request.id, {code::session_attached,
                             "session " + found->id + " is already attached to another connection",
                             {},
                             {}});
  session_ = std::move(found);
  const bool binary = order->binary_output && channel_->bytes();
  channel_->send(
      encode_result(request.id, encode_initialized(session_->id, host_.terms_.info, binary)));
  session_->attach(channel_, binary);
}

exec_server_host::exec_server_host(exec_server_terms terms)
    : terms_{std::move(terms)}, workers_{*terms_.host.loop, 2} {}

exec_server_host::~exec_server_host() = default;

class exec_server_host::link : public actors::client_link {
public:
  explicit link(std::shared_ptr<client> one) : client_{std::move(one)} {}
  ~link() override { lost(); }
  void received(std::string_view text) override {
    if (const auto one = client_) one->take(text);
  }
  void drained() override {
    if (client_) client_->drained();
  }
  void lost() override {
    if (const auto one = std::exchange(client_, nullptr)) one->closed();
  }

private:
  std::shared_ptr<client> client_;
};

std::unique_ptr<actors::client_link>
exec_server_host::connected(std::shared_ptr<actors::client_port> port) {
  return std::make_unique<link>(std::make_shared<client>(*this, std::move(port)));
}

std::shared_ptr<exec_session> exec_server_host::resume(const std::string& id) {
  if (!id.empty()) {
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? nullptr : found->second;
  }
  auto fresh = std::make_shared<exec_session>(terms_, workers_);
  sessions_[fresh->id] = fresh;
  return fresh;
}

void exec_server_host::detach(const std::shared_ptr<exec_session>& gone) {
  gone->detach();
  gone->expiry.start(terms_.detached, [this, id = gone->id] { sessions_.erase(id); });
}

} // namespace gatehouse::cli
