#include "actors/endpoint/refusals.hpp"

#include <utility>

namespace gatehouse::actors {

rpc::failure refused(std::string message, std::string kind, rpc::code code) {
  return {code, std::move(message), std::move(kind), {}};
}

rpc::failure wrong_params(std::string message) {
  return refused(std::move(message), "invalidParams", rpc::code::invalid_params);
}

rpc::failure no_thread(const std::string& id) {
  return refused("there is no thread `" + id + "`; thread/start opens one", "unknownThread");
}

rpc::failure failure_of(const error& e) {
  return refused(to_string(e), std::string{to_string(e.code)},
                 e.code == errc::invalid_request || e.code == errc::invalid_profile
                     ? rpc::code::invalid_params
                     : rpc::code::internal);
}

} // namespace gatehouse::actors
