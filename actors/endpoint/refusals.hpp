#pragma once

#include "protocol/result.hpp"
#include "protocol/rpc/envelope.hpp"

#include <cstddef>
#include <string>
#include <string_view>

/// The errors that the endpoint answers requests with (reference protocol 5.4).
namespace gatehouse::actors {

/// @param kind the stable discriminator, `data.kind`
rpc::failure refused(std::string message, std::string kind,
                     rpc::code code = rpc::code::invalid_request);
/// Parameters that can be read and make no sense.
rpc::failure wrong_params(std::string message);
rpc::failure no_thread(const std::string& id);
rpc::failure no_call(const std::string& id);
rpc::failure failure_of(const error& e);
/// What a thread says against a call or a turn: an unknown turn is named as such.
rpc::failure turn_failure(const error& e);
/// Retryable (reference protocol 5.4).
rpc::failure overloaded(std::string message, std::size_t in_flight, std::size_t limit);

/// An id of a client in a message: quoted, of a long one the beginning.
std::string shown(std::string_view id);

} // namespace gatehouse::actors
