#include "cli/batch_engine.hpp"

#include "protocol/json_writer.hpp"
#include "protocol/rpc/app_events.hpp"
#include "protocol/rpc/app_fields.hpp"
#include "protocol/rpc/envelope.hpp"

#include <utility>

namespace gatehouse::cli {

namespace app = rpc::app;

namespace {

/// A request without its end: the caller adds the fields of `params` and closes twice.
json_writer request_of(std::int64_t id, std::string_view method) {
  json_writer out;
  out.open('{');
  out.key("id");
  out.number(id);
  out.field("method", method);
  out.key("params");
  out.open('{');
  return out;
}

std::string closed(json_writer out) {
  out.close('}');
  out.close('}');
  return std::move(out).take();
}

} // namespace

void local_engine::start(const std::string& call_id, const batch_item& item, done on_end) {
  thread_.send(actors::thread_messages::begin_call{
      {call_id, {}, item.arguments},
      [call_id, on_end = std::move(on_end)](const result<call_report_ptr>& report) {
        if (report) return on_end(app::result_of(**report));
        app::tool_call_result told; // there was no such call
        told.call_id = call_id;
        told.message = to_string(report.error());
        told.report = {"{}"};
        on_end(std::move(told));
      }});
}

void local_engine::stop() {
  thread_.send(actors::thread_messages::end_turn{
      {}, thread_events::turn_ending::interrupted, "the batch was stopped"});
}

remote_engine::remote_engine(reactor::event_loop& loop, remote_terms terms)
    : loop_{loop}, terms_{std::move(terms)} {
  reactor::websocket_client_terms line;
  line.bearer = terms_.token;
  line.frame_bytes = std::size_t{64} << 20U;
  line_ = std::make_unique<reactor::websocket_client>(
      loop_, terms_.target, std::move(line),
      reactor::websocket_client_events{[this] { opened(); },
                                       [this](std::string_view text) { received(text); },
                                       {},
                                       [this](const reactor::websocket_end& end) {
                                         broken(end.reason.empty() ? "it closed the connection"
                                                                   : end.reason);
                                       }});
}

remote_engine::~remote_engine() = default;

void remote_engine::opened() {
  line_->send(
      R"({"id":1,"method":"initialize","params":{"clientInfo":{"name":"gatehouse-batch","version":"1"}}})");
  line_->send(R"({"method":"initialized","params":{}})");
  auto open = request_of(2, "thread/start");
  if (terms_.environment) {
    open.key("environments");
    open.open('[');
    open.item();
    open.open('{');
    open.field("environmentId", *terms_.environment);
    if (!terms_.cwd.empty()) open.field("cwd", terms_.cwd);
    open.close('}');
    open.close(']');
  } else {
    open.field("cwd", terms_.cwd);
  }
  if (terms_.profile) open.field("sandbox", *terms_.profile);
  if (terms_.approval_policy) {
    open.key("approvalPolicy");
    if (terms_.approval_policy->starts_with('{'))
      open.raw(*terms_.approval_policy);
    else
      open.text(*terms_.approval_policy);
  }
  line_->send(closed(std::move(open)));
}

void remote_engine::start(const std::string& call_id, const batch_item& item, done on_end) {
  const auto number = ++last_;
  calls_[number] = {call_id, std::move(on_end)};
  auto out = request_of(number, "tool/call");
  out.field("threadId", thread_);
  out.field("callId", call_id);
  out.field("tool", item.tool);
  out.key("arguments");
  out.raw(item.json);
  line_->send(closed(std::move(out)));
}

void remote_engine::stop() {
  if (thread_.empty()) return broken("it was stopped before the thread was open");
  auto out = request_of(++last_, "turn/interrupt");
  out.field("threadId", thread_);
  line_->send(closed(std::move(out)));
}

void remote_engine::received(std::string_view text) {
  const json_source source{"a message of the daemon", errc::io, "", std::size_t{64} << 20U};
  const auto tree = parse_json(text, source);
  const auto fields =
      tree ? json_node{*tree, source}.open_object() : result<json_fields>{tree.error()};
  if (!fields) return broken(fields.error().message);
  const auto id = fields->find("id");
  if (!id || fields->find("method")) return; // an event
  const auto number = id->integer(0, INT64_MAX);
  if (!number) return;
  const auto failed = fields->find("error");
  const auto said = failed ? failed->open_object() : fields;
  const auto why = failed && said ? said->optional_text("message") : result<std::string>{""};
  if (*number <= 2) {
    if (failed) return broken(why ? *why : std::string{"it refused the session"});
    if (*number == 1) return;
    const auto opened_thread = fields->find("result");
    const auto inner = opened_thread ? opened_thread->open_object() : fields;
    const auto thread = inner ? inner->find("thread") : std::nullopt;
    const auto info = thread ? thread->open_object() : fields;
    const auto name = info ? info->optional_text("id") : result<std::string>{""};
    if (!thread || !name || name->empty()) return broken("it opened no thread");
    thread_ = *name;
    return;
  }
  auto found = calls_.extract(*number);
  if (found.empty()) return;
  app::tool_call_result told;
  told.call_id = found.mapped().call_id;
  told.report = {"{}"};
  if (failed) {
    told.message = why ? *why : std::string{"the daemon refused the call"};
  } else if (const auto told_result = fields->find("result")) {
    auto read = rpc::codec<app::tool_call_result>::decode(*told_result);
    if (!read) return broken(read.error().message);
    told = *std::move(read);
  }
  found.mapped().on_end(std::move(told));
}

void remote_engine::broken(std::string why) {
  if (!failure_) failure_ = error{errc::io, "the daemon cannot be used: " + std::move(why), {}};
}

} // namespace gatehouse::cli
