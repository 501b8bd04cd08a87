#include "actors/endpoint/refusals.hpp"

#include "protocol/utf8.hpp"

#include <utility>

namespace gatehouse::actors {

rpc::failure refused(std::string message, std::string kind, rpc::code code) {
  return {code, std::move(message), std::move(kind), {}};
}

rpc::failure wrong_params(std::string message) {
  return refused(std::move(message), "invalidParams", rpc::code::invalid_params);
}

rpc::failure no_thread(const std::string& id) {
  return refused("there is no thread " + shown(id) + "; thread/start opens one", "unknownThread");
}

rpc::failure no_call(const std::string& id) {
  return refused("there is no call " + shown(id) + " in this thread", "unknownCall");
}

rpc::failure failure_of(const error& e) {
  return refused(to_string(e), std::string{to_string(e.code)},
                 e.code == errc::invalid_request || e.code == errc::invalid_profile
                     ? rpc::code::invalid_params
                     : rpc::code::internal);
}

rpc::failure turn_failure(const error& e) {
  if (e.code == errc::not_found) return refused(to_string(e), "unknownTurn");
  if (e.code == errc::cancelled) return refused(to_string(e), "waitsForReviewer");
  return failure_of(e);
}

rpc::failure overloaded(std::string message, std::size_t in_flight, std::size_t limit) {
  auto full = refused(std::move(message), "overloaded", rpc::code::overloaded);
  full.data = R"("retryAfterMs":100,"inFlight":)" + std::to_string(in_flight) + R"(,"limit":)" +
              std::to_string(limit);
  return full;
}

std::string shown(std::string_view id) {
  constexpr std::size_t longest = 128;
  if (id.size() <= longest) return "`" + std::string{id} + "`";
  std::string text{id.substr(0, longest)};
  text.resize(text.size() - incomplete_utf8_suffix(text));
  return "`" + text + "…`";
}

} // namespace gatehouse::actors
