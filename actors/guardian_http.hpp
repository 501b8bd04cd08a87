#pragma once

#include "actors/guardian.hpp"
#include "reactor/http_client.hpp"

#include <chrono>
#include <string>

namespace gatehouse::actors {

/// A reviewer that is a model behind an OpenAI-compatible `/chat/completions` (§48a).
struct guardian_endpoint {
  reactor::http_target to;
  std::string model;
  std::string key;     ///< sent as a bearer token; empty: none
  std::string ca_file; ///< certificates to trust, PEM; empty: those of the system
  std::chrono::milliseconds limit = std::chrono::seconds{90}; ///< for all tries together
};

/// Asks at most three times within the limit: again after a reply that cannot be used, a failed
/// connection, and the statuses 408, 429 and 5xx. A reply that stays unusable is a failure.
/// @param loop outlives the transport and its handles
guardian_transport ask_guardian_endpoint(reactor::event_loop& loop, guardian_endpoint endpoint);

} // namespace gatehouse::actors
