#pragma once

#include "protocol/result.hpp"
#include "protocol/rpc/envelope.hpp"

#include <string>

/// The errors that the endpoint answers requests with (reference protocol 5.4).
namespace gatehouse::actors {

/// @param kind the stable discriminator, `data.kind`
rpc::failure refused(std::string message, std::string kind,
                     rpc::code code = rpc::code::invalid_request);
/// Parameters that can be read and make no sense.
rpc::failure wrong_params(std::string message);
rpc::failure no_thread(const std::string& id);
rpc::failure failure_of(const error& e);

} // namespace gatehouse::actors
