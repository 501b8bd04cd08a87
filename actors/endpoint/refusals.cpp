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
  const auto failed = [&](std::string kind) {
    return refused(to_string(e), std::move(kind), rpc::code::internal);
  };
  switch (e.code) {
  case errc::invalid_request:
  case errc::invalid_profile: return wrong_params(to_string(e));
  case errc::invalid_rules: return failed("invalidRules");
  case errc::invalid_config: return failed("invalidConfig");
  case errc::not_found: return failed("notFound");
  case errc::io: return failed("io");
  case errc::too_large: return failed("tooLarge");
  case errc::boundary_unavailable:
  case errc::boundary_failed: return failed("sandboxUnavailable");
  case errc::spawn_failed: return failed("spawnDenied");
  case errc::cancelled: return failed("cancelled");
  case errc::internal: break;
  }
  return failed("internal");
}

} // namespace gatehouse::actors
