#include "actors/network_link.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>

namespace gatehouse::actors {

result<reactor::unique_fd> attach_network(const network_attacher& attach, const attempt_terms& what,
                                          limit_holder hold, std::function<void()> end,
                                          sandbox::launch_request& launch) {
  if (what.network != network_mode::proxy_only) return reactor::unique_fd{};
  launch.managed_network = true;
  if (!attach || what.network_registration.empty())
    return error{errc::boundary_failed, "the managed network is not there for this attempt",
                 "Run `gatehouse doctor`."};
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return error{errc::io, std::string{"cannot make a socket pair: "} + std::strerror(errno),
                 "End other calls or raise the limit of open files."};
  reactor::unique_fd inside{ends[1]};
  const auto view = attach(what.network_registration,
                           {reactor::unique_fd{ends[0]}, std::move(hold), std::move(end)});
  launch.local_binding = view.local_binding;
  launch.forwarded_ports = view.forwarded_ports;
  return inside;
}

} // namespace gatehouse::actors
