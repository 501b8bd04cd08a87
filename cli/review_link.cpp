#include "cli/review_link.hpp"

#include "protocol/rpc/app_methods.hpp"
#include "protocol/rpc/envelope.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::cli {
namespace {

namespace app = rpc::app;

constexpr std::string_view handshake_id = "initialize";
constexpr std::string_view list_id = "list";
constexpr std::string_view why_id = "why";
constexpr std::chrono::milliseconds first_wait{200};
constexpr std::chrono::milliseconds longest_wait{5000};

/// The words of a response that is an error.
std::string failure_text(std::string_view response) {
  const json_source source{
      .what = "an answer", .code = errc::io, .remedy = {}, .max_bytes = 16U << 20U};
  const auto tree = parse_json(response, source);
  const auto fields = tree ? json_node{*tree, source}.open_object() : result<json_fields>{error{}};
  const auto failed = fields ? fields->find("error") : std::nullopt;
  const auto inside = failed ? failed->open_object() : result<json_fields>{error{}};
  const auto words = inside ? inside->find("message") : std::nullopt;
  const auto text = words ? words->text() : result<std::string>{error{}};
  return text ? *text : "an error that cannot be read";
}

} // namespace

review_link::review_link(reactor::event_loop& loop, reactor::websocket_address to,
                         std::function<std::string()> token, review_link_events events)
    : loop_{loop}, to_{std::move(to)}, token_{std::move(token)}, events_{std::move(events)},
      again_{loop} {
  connect();
}

void review_link::connect() {
  standing_ = false;
  answers_.clear();
  reactor::websocket_client_terms terms;
  terms.bearer = token_();
  client_ = std::make_unique<reactor::websocket_client>(
      loop_, to_, std::move(terms),
      reactor::websocket_client_events{[] {}, [this](std::string_view text) { heard(text); }, [] {},
                                       [this](const reactor::websocket_end& end) { closed(end); }});
  client_->send(rpc::write_request(
      std::string{handshake_id}, app::methods::initialize::name,
      R"({"clientInfo":{"name":"gatehouse review"},"capabilities":{"gatehouse":{"approvals":true}}})",
      true));
}

void review_link::heard(std::string_view text) {
  const auto read = rpc::read_message(text);
  const auto* message = std::get_if<rpc::message>(&read);
  if (!message) return;
  if (message->what() == rpc::message::kind::response) {
    response(*message, text);
  } else if (app::asks_approval(message->method())) {
    if (auto question = rpc::codec<app::approval_request>::decode(message->params()))
      if (standing_) events_.on_asked(*question);
  } else if (message->method() == app::notifications::resolved::name) {
    if (auto outcome = rpc::codec<app::request_resolved>::decode(message->params()))
      if (standing_) events_.on_resolved(*outcome);
  }
}

void review_link::response(const rpc::message& message, std::string_view text) {
  const auto* id = std::get_if<std::string>(&message.id());
  if (!id) return;
  const auto value = message.result_value();
  if (const auto answered = answers_.find(*id); answered != answers_.end()) {
    const auto request = answered->second;
    answers_.erase(answered);
    events_.on_answered(request, value ? "" : failure_text(text));
  } else if (*id == why_id) {
    const auto fields = value ? value->open_object() : result<json_fields>{error{}};
    const auto place = fields ? fields->find("why") : std::nullopt;
    const auto words = place ? place->text() : result<std::string>{error{}};
    if (events_.on_explained) events_.on_explained(words ? *words : failure_text(text) + "\n");
  } else if (*id == handshake_id) {
    const auto facts =
        value ? rpc::codec<app::initialize_result>::decode(*value)
              : result<app::initialize_result>{error{errc::io, failure_text(text), {}}};
    if (!facts || facts->gatehouse.authority != "reviewer") {
      events_.on_hopeless(
          error{errc::invalid_request,
                facts ? "the daemon knows this token as an agent's, and an agent "
                        "answers no questions"
                      : "the daemon does not take the handshake: " + facts.error().message,
                "Name the reviewer's token with --reviewer-token-file."});
      return;
    }
    client_->send(
        rpc::write_request(std::string{list_id}, app::methods::approval_list::name, "{}", true));
  } else if (*id == list_id && value) {
    const auto list = rpc::codec<app::approval_list_result>::decode(*value);
    if (!list) {
      events_.on_hopeless(list.error());
      return;
    }
    standing_ = true;
    wait_ = {};
    events_.on_standing(list->data);
  }
}

void review_link::answer(const board_answer& what) {
  if (!standing_) return;
  app::approval_resolve_params params;
  params.thread_id = what.thread_id;
  params.request_id = what.request_id;
  params.action_digest = what.digest;
  const json_source source{.what = "a decision", .code = errc::invalid_request, .remedy = {}};
  if (auto decision = parse_json(what.decision, source)) params.decision = *std::move(decision);
  auto id = "answer-" + std::to_string(++next_);
  client_->send(
      rpc::write_request(id, app::methods::approval_resolve::name, rpc::to_json(params), true));
  answers_.emplace(std::move(id), what.request_id);
}

void review_link::explain(const board_why& what) {
  if (!standing_) return;
  app::explain_params params;
  params.thread_id = what.thread_id;
  params.request_id = what.request_id;
  client_->send(rpc::write_request(std::string{why_id}, app::methods::policy_explain::name,
                                   rpc::to_json(params), true));
}

void review_link::closed(const reactor::websocket_end& end) {
  standing_ = false;
  constexpr unsigned unauthorized = 401;
  constexpr unsigned forbidden = 403;
  if (end.http_status == unauthorized || end.http_status == forbidden) {
    events_.on_hopeless(error{errc::invalid_request,
                              "the daemon does not admit this token (status " +
                                  std::to_string(end.http_status) + ")",
                              "Name the reviewer's token with --reviewer-token-file."});
    return;
  }
  wait_ = wait_.count() == 0 ? first_wait : std::min(2 * wait_, longest_wait);
  events_.on_lost(end.reason.empty() ? "closed with " + std::to_string(end.code) : end.reason);
  again_.start(wait_, [this] { connect(); });
}

} // namespace gatehouse::cli
