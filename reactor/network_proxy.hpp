#pragma once

#include "reactor/event_loop.hpp"
#include "reactor/ports.hpp"
#include "reactor/unique_fd.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace gatehouse::reactor {

struct proxy_limits {
  std::size_t connections = 1024;            ///< at once; more wait in the kernel's queue
  std::chrono::milliseconds request{15'000}; ///< to say what is wanted
  std::chrono::milliseconds connect{15'000}; ///< to resolve, and again to connect
  std::chrono::milliseconds idle{600'000};   ///< without a byte in either direction
};

/// A server that a listener always leads to, without a proxy protocol.
struct forward_target {
  std::string host;
  std::uint16_t port = 0;
};

/// The managed proxy of one execution (§143): HTTP, CONNECT and SOCKS5 on one listening socket that
/// was made inside the network namespace of its sandbox. Whoever connects there belongs to that
/// execution, whatever it says of itself. Nothing that one connection does can stall another: every
/// read is bounded, every wait has a limit, and a slow side only slows its own other side.
class network_proxy {
public:
  /// @param listener a listening stream socket
  static std::unique_ptr<network_proxy> serve(event_loop& loop, unique_fd listener,
                                              std::shared_ptr<network_gate> gate,
                                              std::shared_ptr<host_resolver> resolver,
                                              proxy_limits limits = {},
                                              std::optional<forward_target> target = {});
  /// Cuts every connection.
  ~network_proxy();
  network_proxy(const network_proxy&) = delete;
  network_proxy& operator=(const network_proxy&) = delete;

  [[nodiscard]] std::size_t connections() const noexcept; ///< open now

private:
  class impl;
  explicit network_proxy(std::shared_ptr<impl> i);
  std::shared_ptr<impl> impl_;
};

} // namespace gatehouse::reactor
