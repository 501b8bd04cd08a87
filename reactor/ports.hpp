#pragma once

#include "protocol/ip_address.hpp"
#include "protocol/network.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What the reactor asks upward. It moves bytes and decides nothing about them.
namespace gatehouse::reactor {

/// A connection that a program wants, as the proxy read it.
struct connection_facts {
  network_protocol protocol = network_protocol::https;
  std::string host; ///< as written, untrusted
  std::uint16_t port = 0;
  std::string method;                  ///< of a plain HTTP request, else empty
  std::vector<std::string> also_named; ///< Host headers, as written
};

struct connection_verdict {
  bool allowed = false;
  std::string host; ///< allowed: the canonical host, a name or an address
  network_refusal reason = network_refusal::not_listed; ///< refused
  std::string message; ///< refused: for the program and whoever reads its output, several lines
};

struct address_verdict {
  std::vector<ip_address> allowed; ///< what may be dialled, in this order; empty: refused
  network_refusal reason = network_refusal::local_address;
  std::string message;
};

/// Where a client names a server inside its tunnel.
enum class named_by : std::uint8_t {
  tls,  ///< the server name of a ClientHello: no port
  http, ///< a Host header, or the target of a request: a port may follow
};

/// Decides about the connections of one execution (§143). Used on the loop only. The proxy calls
/// `decide` first, for every connection; nothing is resolved or dialled before its yes.
class network_gate {
public:
  using reply = std::function<void(connection_verdict)>;

  virtual ~network_gate() = default;

  /// Calls `answer` once, at any time, also inside this call. Dropping the returned object (may be
  /// null) says that nobody waits any more; `answer` may then still be called, to no effect.
  virtual std::shared_ptr<void> decide(const connection_facts& what, reply answer) = 0;
  /// Which of the addresses that an allowed `host` resolved to may be dialled.
  virtual address_verdict check(const connection_facts& what, const std::string& host,
                                std::span<const ip_address> addresses) = 0;
  /// Is the server that the client names inside its tunnel the one that was asked for? A text: no,
  /// the connection is cut, the gate has noted why, and this is for the program.
  virtual std::optional<std::string> disagreement(const connection_facts& what,
                                                  const std::string& host, std::string_view named,
                                                  named_by by) = 0;
  /// The request could not even be read, or asks for what is never carried; for the record.
  /// @param what as far as it is known: an empty host, a port of 0
  /// @param reason network_refusal::malformed or not_carried
  virtual void unreadable(const connection_facts& what, network_refusal reason,
                          const std::string& why) = 0;
};

/// Turns names into addresses. Used on the loop only.
class host_resolver {
public:
  using reply = std::function<void(std::vector<ip_address>)>;

  virtual ~host_resolver() = default;
  /// Calls `answer` once, never inside this call; empty: there is no such name, or nobody says.
  virtual void resolve(const std::string& host, reply answer) = 0;
};

} // namespace gatehouse::reactor
