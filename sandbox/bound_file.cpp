#include "sandbox/bound_file.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

namespace gatehouse::sandbox {
namespace {

/// SIOCUNIXFILE of linux/un.h: a descriptor of the file that a unix socket is bound to. Needs
/// rights in the socket's network namespace, which we have when it is the sandbox's own.
constexpr unsigned long unix_file_request = 0x89e0;

/// What sock_diag says about a socket of our own network namespace; anybody may ask.
std::optional<unix_diag_vfs> ask_kernel(int socket) {
  struct stat st {};
  const file_descriptor link{::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)};
  if (!link || fstat(socket, &st) != 0) return std::nullopt;
  struct {
    nlmsghdr head;
    unix_diag_req body;
  } request{};
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.head.nlmsg_flags = NLM_F_REQUEST;
  request.body.sdiag_family = AF_UNIX;
  request.body.udiag_states = ~0u;
  request.body.udiag_ino = static_cast<std::uint32_t>(st.st_ino);
  request.body.udiag_show = UDIAG_SHOW_VFS;
  request.body.udiag_cookie[0] = request.body.udiag_cookie[1] = ~0u;
  if (send(link.get(), &request, sizeof request, 0) != sizeof request) return std::nullopt;

  alignas(nlmsghdr) char answer[1024];
  const ssize_t size = recv(link.get(), answer, sizeof answer, 0);
  auto* head = reinterpret_cast<nlmsghdr*>(answer);
  if (size < 0 || !NLMSG_OK(head, static_cast<std::size_t>(size)) ||
      head->nlmsg_type != SOCK_DIAG_BY_FAMILY)
    return std::nullopt;
  auto* body = static_cast<unix_diag_msg*>(NLMSG_DATA(head));
  auto rest = static_cast<int>(head->nlmsg_len - NLMSG_LENGTH(sizeof *body));
  for (auto* part = reinterpret_cast<rtattr*>(body + 1); RTA_OK(part, rest);
       part = RTA_NEXT(part, rest)) {
    if (part->rta_type != UNIX_DIAG_VFS || RTA_PAYLOAD(part) < sizeof(unix_diag_vfs)) continue;
    unix_diag_vfs file{};
    std::memcpy(&file, RTA_DATA(part), sizeof file);
    return file;
  }
  return std::nullopt;
}

} // namespace

file_descriptor bound_file(int socket, const caller& who) {
  file_descriptor file{ioctl(socket, unix_file_request)};
  if (file) return file;

  const auto told = ask_kernel(socket);
  if (!told) return {};
  sockaddr_un name{};
  socklen_t size = sizeof name;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0 ||
      size <= offsetof(sockaddr_un, sun_path) || name.sun_path[0] == 0)
    return {};
  const std::string path{name.sun_path, strnlen(name.sun_path, sizeof name.sun_path)};
  place p = who.locate(AT_FDCWD, path, false);
  struct stat st {};
  if (p.error != 0 || !p.exists() || fstat(p.object.get(), &st) != 0) return {};
  // The kernel's own form of a device number: 20 bits of minor.
  const bool same = static_cast<std::uint32_t>(st.st_ino) == told->udiag_vfs_ino &&
                    major(st.st_dev) == told->udiag_vfs_dev >> 20 &&
                    minor(st.st_dev) == (told->udiag_vfs_dev & 0xfffff);
  return same ? std::move(p.object) : file_descriptor{};
}

} // namespace gatehouse::sandbox
