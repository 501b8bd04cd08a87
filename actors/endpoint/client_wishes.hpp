#pragma once

#include "actors/endpoint/client_port.hpp"
#include "protocol/rpc/app_types.hpp"
#include "protocol/rpc/envelope.hpp"

#include <cstddef>
#include <optional>

namespace gatehouse::actors {

/// What a connection is like, after what it asked for in `initialize`.
struct client_manner {
  bool answers = false;         ///< a person behind it can be asked
  bool asked_about_all = false; ///< about every thread, not only those it follows
  std::size_t in_flight = 0;    ///< calls of its session under way
};

struct wished_manner {
  client_manner granted;
  std::optional<rpc::failure> refusal; ///< set: nothing is granted
};
/// Reads `capabilities.gatehouse`: everything in it is granted, or refused with the reason.
/// @param most calls that the server lets a session have under way
wished_manner manner_of(const rpc::app::initialize_params& wished, authority who, std::size_t most);

} // namespace gatehouse::actors
