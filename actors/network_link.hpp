#pragma once

#include "actors/hidden_wait.hpp"
#include "protocol/attempt.hpp"
#include "protocol/result.hpp"
#include "reactor/unique_fd.hpp"
#include "sandbox/launch.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gatehouse::actors {

using limit_holder = std::function<void(const hidden_wait::change&)>;

/// What ties a running attempt to its network registration.
struct network_link {
  reactor::unique_fd channel; ///< the listeners made inside come over it
  limit_holder hold;          ///< the time limit stands still while somebody is asked
  std::function<void()> end;  ///< a reviewer refused a host: the process ends (§116)
};

/// What the sandbox of an attempt must know of its network.
struct network_view {
  bool local_binding = false;
  std::vector<std::uint16_t> forwarded_ports; ///< loopback ports that lead to the host's
};

/// Ties an attempt that is about to start to `registration`. Used on the loop.
using network_attacher =
    std::function<network_view(const std::string& registration, network_link link)>;

/// Tells the helper of the network of an attempt, and ties a managed one to its registration. The
/// result is the helper's end of the link, to be passed to it; none without a managed network.
/// Errors: `boundary_failed`, `io`; then nothing may run.
result<reactor::unique_fd> attach_network(const network_attacher& attach, const attempt_terms& what,
                                          limit_holder hold, std::function<void()> end,
                                          sandbox::launch_request& launch);

} // namespace gatehouse::actors
