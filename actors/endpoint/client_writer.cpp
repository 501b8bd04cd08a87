#include "actors/endpoint/client_writer.hpp"

#include "protocol/rpc/app_events.hpp"

#include <utility>

namespace gatehouse::actors {

namespace app = rpc::app;

namespace {

constexpr int try_again_later = 1013;

} // namespace

void client_writer::attach(std::shared_ptr<client_port> port, bool version) {
  detach();
  port_ = std::move(port);
  version_ = version;
}

void client_writer::detach() {
  port_ = nullptr;
  waiting_.clear();
  stuck_.cancel();
}

bool client_writer::is_behind() const {
  return port_ && (!waiting_.empty() || port_->queued_bytes() > services_.limits.queued_bytes);
}

void client_writer::notify(std::string_view method, const std::string& params) {
  if (port_) send(rpc::write_notification(method, params, version_, services_.unix_ms()));
}

void client_writer::ask(std::function<std::optional<question>()> what) {
  if (!port_) return;
  send([what = std::move(what), version = version_]() -> std::string {
    const auto asked = what();
    if (!asked) return {};
    return rpc::write_request(asked->id, asked->method, asked->params, version);
  });
}

void client_writer::answer(const std::optional<rpc::request_id>& id, const rpc_outcome& what) {
  if (!port_) return;
  if (const auto* report = std::get_if<call_report_ptr>(&what)) // large, and kept elsewhere anyway
    send([this, id, report = *report] { return text_of(*id, *report); });
  else if (const auto* result = std::get_if<std::string>(&what))
    send(rpc::write_result(*id, *result, version_));
  else
    send(rpc::write_failure(id, std::get<rpc::failure>(what), version_));
}

std::string client_writer::text_of(const rpc::request_id& id, const call_report& report) const {
  auto told = app::result_of(report);
  auto text = rpc::write_result(id, rpc::to_json(told), version_);
  if (text.size() <= services_.limits.frame_bytes) return text;
  // The report has the output again, twice; what is written as \u0001 takes six times the room.
  const auto outcome = app::result_of(outcome_of(report));
  told.report = outcome.report;
  text = rpc::write_result(id, rpc::to_json(told), version_);
  if (text.size() <= services_.limits.frame_bytes) return text;
  return rpc::write_result(id, rpc::to_json(outcome), version_);
}

void client_writer::send(std::string text) {
  if (is_behind())
    wait([text = std::move(text)] { return text; });
  else
    hand_over(std::move(text));
}

void client_writer::send(maker what) {
  if (is_behind())
    wait(std::move(what));
  else
    hand_over(what());
}

void client_writer::hand_over(std::string text) {
  if (text.empty()) return;
  sent_ += text.size();
  port_->send(std::move(text));
  if (is_behind() && !stuck_.pending()) watch();
}

void client_writer::wait(maker what) {
  waiting_.push_back(std::move(what));
  if (waiting_.size() > services_.limits.waiting_messages) close();
}

void client_writer::drained() {
  while (port_ && !waiting_.empty() && port_->queued_bytes() <= services_.limits.queued_bytes) {
    const auto what = std::move(waiting_.front());
    waiting_.pop_front();
    hand_over(what());
  }
  if (!is_behind()) stuck_.cancel();
}

void client_writer::watch() {
  stuck_.start(services_.limits.stuck, [this, before = taken()] {
    if (!is_behind()) return;
    if (taken() == before)
      close();
    else
      watch();
  });
}

void client_writer::close() {
  const auto port = port_;
  detach();
  port->close(try_again_later, "the client does not read its answers");
}

} // namespace gatehouse::actors
