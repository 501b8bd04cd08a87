#include "actors/endpoint/client_writer.hpp"

#include <utility>

namespace gatehouse::actors {
namespace {

constexpr int try_again_later = 1013;

} // namespace

void client_writer::attach(std::shared_ptr<client_port> port, bool version) {
  port_ = std::move(port);
  version_ = version;
}

bool client_writer::is_behind() const {
  return port_ && port_->queued_bytes() > services_.limits.queued_bytes;
}

void client_writer::notify(std::string_view method, const std::string& params) {
  if (port_) send(rpc::write_notification(method, params, version_, services_.unix_ms()));
}

void client_writer::ask(const std::string& id, std::string_view method, const std::string& params) {
  if (port_) send(rpc::write_request(id, method, params, version_));
}

void client_writer::answer(const rpc::request_id& id, const rpc_outcome& what) {
  if (!port_) return;
  if (const auto* result = std::get_if<std::string>(&what))
    send(rpc::write_result(id, *result, version_));
  else
    send(rpc::write_failure(id, std::get<rpc::failure>(what), version_));
}

void client_writer::send(std::string text) {
  port_->send(std::move(text));
  // Events wait in their thread's log for a slow reader; what still grows are answers.
  if (port_->queued_bytes() > 4 * services_.limits.queued_bytes)
    port_->close(try_again_later, "the client does not read its answers");
}

} // namespace gatehouse::actors
