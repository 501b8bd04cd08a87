#pragma once

#include "actors/endpoint/client_port.hpp"
#include "actors/sha256.hpp"
#include "reactor/websocket_server.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

/// Who may connect to this server (reference protocol 5.7).
struct admission_terms {
  std::optional<sha256_hash> agent_token;    ///< unset: no token gives this authority
  std::optional<sha256_hash> reviewer_token; ///< likewise
  bool open_to_agents = false;      ///< without a token a connection has an agent's authority
  std::vector<std::string> origins; ///< that a page may have, "https://host[:port]" exactly
  std::uint32_t own_uid = 0;
};

struct admission {
  reactor::http_answer answer; ///< 101: let it in, as `who`
  authority who = authority::agent;
};

/// Judges one request: Host and Origin first, then the path, then the credential. A request that
/// could come from a web page (an Origin, a foreign Host) is refused whatever it brings, unless its
/// origin is listed. /readyz and /healthz answer 200 to anyone who may ask at all.
admission admit(const reactor::http_request& request, const admission_terms& terms);

/// The Host header is literally this server's loopback address, or the request came over a Unix
/// socket. Anything else may be a page that had its name resolved to us.
bool is_own_host(const reactor::http_request& request);

/// Equal and not empty. It takes as long for every text of the same length.
bool same_token(std::string_view a, std::string_view b);

/// The WebSocket subprotocol in which a page may bring its token, beside `gatehouse.v1`.
inline constexpr std::string_view token_subprotocol = "gatehouse.token.";
inline constexpr std::string_view subprotocol = "gatehouse.v1";

} // namespace gatehouse::actors
