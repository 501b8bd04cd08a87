#pragma once

#include "actors/attempt_result.hpp"
#include "actors/network_desk.hpp"

#include <optional>

namespace gatehouse::actors {

/// What the network had to do with the end of an attempt.
struct network_outcome {
  /// The refused host that explains the failure of the attempt; may be worth a question (§102).
  std::optional<network_context> refused;
  bool ended_for_it = false; ///< the process was ended because a reviewer refused the host (§116)
  bool stop = false;         ///< the reviewer stopped the turn
};

/// Writes what a closed registration saw into the record of its attempt (§114–§116): the blocked
/// connections, and as denial the refused host, when the attempt failed on it or was ended for it.
/// One that got along without the host has not failed. Pure.
/// @param cancelled somebody other than the network ended the attempt
network_outcome apply_network_end(attempt_record& of, network_end seen, bool cancelled);

} // namespace gatehouse::actors
