#include "sandbox/bridge_sockets.hpp"

#include "sandbox/kernel_call.hpp"

#include <linux/in.h>
#include <linux/in6.h>
#include <sys/socket.h>

namespace gatehouse::sandbox {
namespace {

constexpr int waiting_connections = 4096; // the kernel takes off what it does not grant

constexpr std::uint16_t network_order(std::uint16_t port) {
  return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap16(port) : port;
}

} // namespace

long listen_on_loopback(std::uint16_t port, bool v6) {
  const long fd = kernel_call(SYS_socket, v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (is_error(fd)) return fd;
  sockaddr_in at4{};
  at4.sin_family = AF_INET;
  at4.sin_port = network_order(port);
  auto* bytes = reinterpret_cast<unsigned char*>(&at4.sin_addr);
  bytes[0] = 127;
  bytes[3] = 1;
  sockaddr_in6 at6{};
  at6.sin6_family = AF_INET6;
  at6.sin6_port = network_order(port);
  reinterpret_cast<unsigned char*>(&at6.sin6_addr)[15] = 1;
  long answer = v6 ? kernel_call(SYS_bind, fd, &at6, sizeof at6)
                   : kernel_call(SYS_bind, fd, &at4, sizeof at4);
  if (!is_error(answer)) answer = kernel_call(SYS_listen, fd, waiting_connections);
  if (!is_error(answer)) return fd;
  kernel_call(SYS_close, fd);
  return answer;
}

} // namespace gatehouse::sandbox
