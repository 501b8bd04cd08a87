#include "cli/mcp_server.hpp"

#include "actors/random_id.hpp"
#include "protocol/tool_request.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::cli {

namespace mcp = rpc::mcp;
using namespace actors::thread_messages;

namespace {

constexpr std::string_view no_asking =
    "this client cannot ask its user (it has no elicitation); add a rule, or ask for the command "
    "to be run by hand";

std::string version_for(const std::string& asked) {
  const auto& known = mcp::legacy_versions;
  return std::string{std::find(known.begin(), known.end(), asked) != known.end() ? asked
                                                                                 : known.front()};
}

bool same_id(const rpc::request_id& id, const json_tree& tree) {
  if (const auto* number = std::get_if<std::int64_t>(&tree.value))
    return id == rpc::request_id{*number};
  const auto* text = std::get_if<std::string>(&tree.value);
  return text && id == rpc::request_id{*text};
}

} // namespace

mcp_server::mcp_server(actors::thread_handle thread, std::string version,
                       std::function<void(std::string)> send)
    : thread_{std::move(thread)}, version_{std::move(version)}, send_{std::move(send)} {}

void mcp_server::begin() {
  thread_.send(subscribe{shared_from_this(), false, std::nullopt});
}

void mcp_server::hear_as_reviewer() {
  if (std::exchange(reviews_, true)) return;
  thread_.send(unsubscribe{shared_from_this()});
  thread_.send(subscribe{shared_from_this(), true, std::nullopt});
}

void mcp_server::lost() {
  thread_.send(end_turn{{}, thread_events::turn_ending::interrupted, "the client is gone"});
}

void mcp_server::fail(const rpc::request_id& id, rpc::code code, std::string message,
                      std::string kind) {
  send_(rpc::write_failure(id, {code, std::move(message), std::move(kind), {}}, true));
}

void mcp_server::received(std::string_view text) {
  auto read = rpc::read_message(text);
  if (const auto* bad = std::get_if<rpc::unreadable>(&read)) {
    send_(rpc::write_failure(bad->id, bad->why, true));
    return;
  }
  const auto& message = std::get<rpc::message>(read);
  switch (message.what()) {
  case rpc::message::kind::request: request(message); break;
  case rpc::message::kind::response: response(message); break;
  case rpc::message::kind::notification:
    if (message.method() == "notifications/cancelled") cancelled(message);
    break;
  }
}

void mcp_server::request(const rpc::message& message) {
  const auto& method = message.method();
  const auto& id = message.id();
  const auto beside = rpc::codec<mcp::any_params>::decode(message.params());
  if (!beside) return fail(id, rpc::code::invalid_params, beside.error().message, "invalidParams");
  const bool modern = beside->meta && beside->meta->protocol_version;
  if (modern && *beside->meta->protocol_version != mcp::modern_version) {
    rpc::failure why{static_cast<rpc::code>(mcp::unsupported_version),
                     "this server does not speak " + *beside->meta->protocol_version,
                     "unsupportedVersion",
                     {}};
    json_writer requested;
    requested.text(*beside->meta->protocol_version);
    why.data = R"("supported":[")" + std::string{mcp::modern_version} + R"("],"requested":)" +
               std::move(requested).take();
    send_(rpc::write_failure(id, why, true));
    return;
  }
  if (method == "initialize") {
    const auto params = rpc::codec<mcp::initialize_params>::decode(message.params());
    if (!params)
      return fail(id, rpc::code::invalid_params, params.error().message, "invalidParams");
    legacy_ = true;
    legacy_can_ask_ = mcp::can_ask(params->capabilities);
    if (legacy_can_ask_) hear_as_reviewer();
    send_(rpc::write_result(
        id, mcp::server_facts(false, version_for(params->protocol_version), version_), true));
    return;
  }
  if (!modern && !legacy_)
    return fail(id, rpc::code::invalid_request,
                "neither a handshake (initialize) nor a protocol version in _meta",
                "notInitialized");
  if (method == "server/discover" && modern)
    return send_(rpc::write_result(id, mcp::server_facts(true, {}, version_), true));
  if (method == "ping" && !modern) return send_(rpc::write_result(id, "{}", true));
  if (method == "tools/list") return send_(rpc::write_result(id, mcp::tool_list(modern), true));
  if (method == "tools/call") return call_tool(message, modern);
  fail(id, rpc::code::method_not_found, "unknown method `" + method + "`", "methodNotFound");
}

void mcp_server::call_tool(const rpc::message& message, bool modern) {
  const auto& id = message.id();
  auto params = rpc::codec<mcp::call_params>::decode(message.params());
  if (!params) return fail(id, rpc::code::invalid_params, params.error().message, "invalidParams");
  const auto arguments = params->arguments ? rpc::to_json(*params->arguments) : std::string{"{}"};
  const auto asked = params->name + '\n' + arguments;
  if (params->request_state) return call_again(id, *params, asked);
  if (!mcp::is_tool(params->name))
    return fail(id, rpc::code::invalid_params, "there is no tool `" + params->name + "`",
                "unknownTool");
  auto read = decode_tool_arguments(params->name, arguments);
  // Wrong arguments are the model's to correct, so that it must see them.
  if (!read)
    return send_(rpc::write_result(id, mcp::call_error(modern, to_string(read.error())), true));
  call fresh;
  fresh.request = id;
  fresh.asked = asked;
  fresh.modern = modern;
  fresh.can_ask = modern ? params->meta && params->meta->capabilities &&
                               mcp::can_ask(*params->meta->capabilities)
                         : legacy_can_ask_;
  if (fresh.can_ask) hear_as_reviewer();
  if (params->meta) fresh.progress_token = params->meta->progress_token;
  const auto call_id = "mcp-" + std::to_string(++next_);
  calls_.emplace(call_id, std::move(fresh));
  thread_.send(begin_call{{call_id, {}, *std::move(read)},
                          [weak = weak_from_this(), call_id](const result<call_report_ptr>& end) {
                            if (const auto self = weak.lock()) self->ended(call_id, end);
                          }});
}

/// The client comes back with its user's answer.
void mcp_server::call_again(const rpc::request_id& id, const mcp::call_params& params,
                            const std::string& asked) {
  const auto found = std::ranges::find_if(calls_, [&](const auto& one) {
    return !one.second.state.empty() && one.second.state == *params.request_state;
  });
  if (found == calls_.end())
    return fail(
        id, rpc::code::invalid_params,
        "this requestState is unknown, was used before or has expired; call again without it",
        "unknownState");
  auto& c = found->second;
  if (c.asked != asked)
    return fail(id, rpc::code::invalid_params,
                "tool or arguments differ from the call that this requestState belongs to",
                "otherCall");
  c.state.clear();
  if (c.result) { // it ended meanwhile
    send_(rpc::write_result(id, *c.result, true));
    calls_.erase(found);
    return;
  }
  c.request = id;
  if (!c.question) return; // answered elsewhere; it runs
  if (params.responses && params.responses->approval)
    answer(c, *params.responses->approval);
  else
    ask(found->first, c);
}

void mcp_server::ask(const std::string& call_id, call& c) {
  if (!c.can_ask) return refuse_question(c, std::string{no_asking});
  if (c.modern) {
    if (!c.request) return;
    c.state = actors::random_id() + actors::random_id();
    send_(rpc::write_result(*c.request, mcp::input_required(*c.question, c.state), true));
    c.request.reset();
    return;
  }
  const auto id = "question-" + std::to_string(++next_);
  by_question_.emplace(id, call_id);
  send_(rpc::write_request(id, "elicitation/create", mcp::question(*c.question), true));
}

void mcp_server::answer(const call& c, const mcp::elicit_result& said) {
  const auto decision = mcp::decision_of(said, *c.question);
  if (!decision)
    return refuse_question(c, "the client's answer is none of the choices that were offered");
  answer_review message;
  message.review_id = c.question->review_id;
  message.digest = c.question->digest;
  message.decision = *decision;
  thread_.send(std::move(message));
}

void mcp_server::refuse_question(const call& c, const std::string& why) {
  answer_review message;
  message.review_id = c.question->review_id;
  message.decision = review_decision::denied;
  message.reason = why;
  thread_.send(std::move(message));
}

void mcp_server::response(const rpc::message& message) {
  const auto* id = std::get_if<std::string>(&message.id());
  if (!id) return;
  const auto known = by_question_.find(*id);
  if (known == by_question_.end()) return;
  const auto call_id = known->second;
  by_question_.erase(known);
  const auto found = calls_.find(call_id);
  if (found == calls_.end() || !found->second.question) return;
  const auto place = message.result_value();
  const auto said =
      place ? rpc::codec<mcp::elicit_result>::decode(*place) : result<mcp::elicit_result>{error{}};
  if (said)
    answer(found->second, *said);
  else
    refuse_question(found->second, "the client could not ask its user");
}

void mcp_server::cancelled(const rpc::message& message) {
  const auto params = rpc::codec<mcp::cancelled_params>::decode(message.params());
  if (!params) return;
  for (auto& [call_id, c] : calls_)
    if (c.request && same_id(*c.request, params->request_id)) {
      c.request.reset(); // no answer is expected any more
      c.modern = false;  // nor a second call
      thread_.send(cancel_call{call_id});
    }
}

void mcp_server::step(call& c, std::string_view what) {
  if (!c.progress_token || !c.request) return;
  send_(rpc::write_notification("notifications/progress",
                                mcp::progress(*c.progress_token, ++c.steps, what), true, -1));
}

void mcp_server::on_event(const thread_event_ptr& event) {
  if (const auto* asked = std::get_if<thread_events::review_asked>(&event->what)) {
    const auto found = calls_.find(asked->question.call_id);
    if (found == calls_.end() || asked->who != reviewer_kind::user) return;
    auto& c = found->second;
    if (c.question && c.question->review_id == asked->question.review_id) return; // offered again
    c.question = asked->question;
    step(c, "waiting for the user");
    ask(found->first, c);
  } else if (const auto* over = std::get_if<thread_events::review_resolved>(&event->what)) {
    const auto found = calls_.find(over->call_id);
    if (found != calls_.end()) found->second.question.reset();
  } else if (const auto* began = std::get_if<thread_events::attempt_began>(&event->what)) {
    const auto found = calls_.find(began->call_id);
    if (found != calls_.end()) step(found->second, "running");
  }
}

void mcp_server::ended(const std::string& call_id, const result<call_report_ptr>& report) {
  const auto found = calls_.find(call_id);
  if (found == calls_.end()) return;
  auto& c = found->second;
  auto told = report ? mcp::call_result(c.modern, **report)
                     : mcp::call_error(c.modern, to_string(report.error()));
  if (c.request) {
    send_(rpc::write_result(*c.request, told, true));
  } else if (c.modern && !c.state.empty()) {
    c.result = std::move(told); // the client may still come for it
    return;
  }
  calls_.erase(found);
}

} // namespace gatehouse::cli
