#include "sandbox/local_sockets.hpp"

#include "sandbox/bound_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace gatehouse::sandbox {
namespace {

constexpr const char* host_sockets = "unix sockets of the host";

std::string family_name(int family) {
  switch (family) {
  case AF_INET: return "AF_INET";
  case AF_INET6: return "AF_INET6";
  case AF_UNIX: return "AF_UNIX";
  case AF_NETLINK: return "AF_NETLINK";
  case AF_PACKET: return "AF_PACKET";
  case AF_VSOCK: return "AF_VSOCK";
  default: return "address family " + std::to_string(family);
  }
}

/// Of an open socket; -1 when it is none.
int family_of(int socket) {
  int family = -1;
  socklen_t size = sizeof family;
  return getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0 ? family : -1;
}

/// A socket address as it stood in the caller's memory.
struct address {
  int failure = 0; ///< errno
  sockaddr_storage bytes{};
  socklen_t size = 0;

  /// Of a unix address with a path; empty when it is abstract or unnamed.
  [[nodiscard]] std::string path() const {
    const auto& name = reinterpret_cast<const sockaddr_un&>(bytes);
    const std::size_t start = offsetof(sockaddr_un, sun_path);
    if (size <= start) return {};
    const std::size_t room = std::min<std::size_t>(size - start, sizeof name.sun_path);
    return {name.sun_path, strnlen(name.sun_path, room)};
  }
  [[nodiscard]] bool is_abstract() const {
    const auto& name = reinterpret_cast<const sockaddr_un&>(bytes);
    return size > offsetof(sockaddr_un, sun_path) && name.sun_path[0] == 0;
  }
};

address read_address(const caller& who, const seccomp_data& call) {
  address a;
  a.size = static_cast<socklen_t>(call.args[2]);
  if (a.size > sizeof a.bytes || a.size < sizeof(sa_family_t))
    a.failure = EINVAL;
  else if (!who.read_memory(call.args[1], &a.bytes, a.size))
    a.failure = EFAULT;
  return a;
}

/// A socket that we were started with as a standard stream was made outside.
bool is_standard_stream_of_ours(int socket) {
  struct stat wanted {
  }, own{};
  if (fstat(socket, &wanted) != 0) return true;
  for (int fd = 0; fd < 3; ++fd)
    if (fstat(fd, &own) == 0 && own.st_dev == wanted.st_dev && own.st_ino == wanted.st_ino)
      return true;
  return false;
}

/// `address:port` when it leads out of the loopback, else empty.
std::string address_beyond_loopback(const address& to) {
  char text[INET6_ADDRSTRLEN] = {};
  if (to.bytes.ss_family == AF_INET && to.size >= sizeof(sockaddr_in)) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(to.bytes);
    const auto first = ntohl(v4.sin_addr.s_addr) >> 24;
    // 0.0.0.0 is another name for this machine.
    if (first == 127 || v4.sin_addr.s_addr == 0) return {};
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return std::string{text} + ":" + std::to_string(ntohs(v4.sin_port));
  }
  if (to.bytes.ss_family == AF_INET6 && to.size >= offsetof(sockaddr_in6, sin6_scope_id)) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(to.bytes);
    const auto* bytes = v6.sin6_addr.s6_addr;
    if (IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) || IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr) ||
        (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) && bytes[12] == 127))
      return {};
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return "[" + std::string{text} + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  return {};
}

answer connect_now(int socket, const address& to) {
  return ::connect(socket, reinterpret_cast<const sockaddr*>(&to.bytes), to.size) == 0
             ? answer{}
             : answer::failure(errno);
}

} // namespace

void local_sockets::blocked(const char* call, std::string path, std::string family,
                            std::string entry, std::string host) const {
  sandbox_event event;
  event.kind = sandbox_event_kind::blocked;
  event.refusal = family.empty() ? denial_kind::file_write : denial_kind::network;
  event.call = call;
  event.path = std::move(path);
  event.family = std::move(family);
  event.entry = std::move(entry);
  event.host = std::move(host);
  report_(event);
}

answer local_sockets::refuse_family(const seccomp_data& call) const {
  const int family = static_cast<int>(call.args[0]);
  const bool internet = family == AF_INET || family == AF_INET6;
  blocked("socket", {}, family_name(family),
          network_ != network_mode::proxy_only ? "network restricted"
          : internet                           ? "TCP only, through the proxy; no UDP, no DNS"
                                               : "network only through the proxy");
  return answer::failure(EPERM);
}

bool local_sockets::is_ours(int object) const noexcept {
  struct stat wanted {};
  if (fstat(object, &wanted) != 0) return false;
  return std::any_of(listening_.begin(), listening_.end(), [&](const file_descriptor& file) {
    struct stat st {};
    return fstat(file.get(), &st) == 0 && st.st_dev == wanted.st_dev && st.st_ino == wanted.st_ino;
  });
}

int local_sockets::find_listener(const caller& who, const std::string& path,
                                 file_descriptor& target) const {
  place p = who.locate(AT_FDCWD, path, true);
  if (p.error != 0) return p.error;
  if (!p.exists()) return ENOENT;
  if (!S_ISSOCK(p.object_mode)) return ECONNREFUSED;
  if (!is_ours(p.object.get())) {
    blocked("connect", p.path(), "AF_UNIX", host_sockets);
    return EACCES;
  }
  target = std::move(p.object);
  return 0;
}

answer local_sockets::connect(const caller& who, const seccomp_data& call) const {
  address to = read_address(who, call);
  if (to.failure != 0) return answer::failure(to.failure);
  auto socket = std::make_shared<file_descriptor>(who.borrow(static_cast<int>(call.args[0])));
  if (!*socket) return answer::failure(EBADF);

  auto target = std::make_shared<file_descriptor>();
  const int family = family_of(socket->get());
  if (family < 0) return answer::failure(ENOTSOCK);
  if (family == AF_UNIX) {
    if (to.bytes.ss_family != AF_UNIX) return answer::failure(EINVAL);
    const std::string path = to.path();
    if (to.is_abstract()) {
      // Abstract names belong to the network namespace: in one of our own all of them are inside.
      if (!own_abstract_names_) {
        blocked("connect", {}, "AF_UNIX", host_sockets);
        return answer::failure(EACCES);
      }
    } else if (path.empty()) {
      return answer::failure(EINVAL);
    } else {
      if (const int no = find_listener(who, path, *target)) return answer::failure(no);
      // By descriptor: what was checked is what is connected to.
      auto& name = reinterpret_cast<sockaddr_un&>(to.bytes);
      const std::string by_descriptor = "/proc/self/fd/" + std::to_string(target->get());
      std::memset(name.sun_path, 0, sizeof name.sun_path);
      std::memcpy(name.sun_path, by_descriptor.c_str(), by_descriptor.size());
      to.size = sizeof name;
    }
  } else if (network_ == network_mode::proxy_only && (family == AF_INET || family == AF_INET6)) {
    // Nothing but the loopback is there; said here, it is known what was wanted.
    if (const auto past = address_beyond_loopback(to); !past.empty()) {
      blocked("connect", {}, family_name(family), "network only through the proxy", past);
      return answer::failure(ENETUNREACH);
    }
  } else if (family != AF_INET && family != AF_INET6) {
    blocked("connect", {}, family_name(family), "only internet and local sockets connect");
    return answer::failure(EPERM);
  }
  if (!who.still_waits()) return answer::failure(EINTR);
  if ((fcntl(socket->get(), F_GETFL) & O_NONBLOCK) != 0) return connect_now(socket->get(), to);
  answer a;
  a.later = [socket, target, to] { return connect_now(socket->get(), to); };
  return a;
}

answer local_sockets::bind(const caller& who, const seccomp_data& call) const {
  answer through;
  through.let_through = true;
  const address at = read_address(who, call);
  if (at.failure != 0) return answer::failure(at.failure);
  const std::string path = at.bytes.ss_family == AF_UNIX ? at.path() : std::string{};
  if (path.empty()) return through;
  const place p = who.locate(AT_FDCWD, path, false);
  if (p.error != 0) return answer::failure(p.error);
  if (const auto* guard = folders_.find(p, guarded_operation::create_file)) {
    blocked("bind", p.path(), {}, guard->why);
    return answer::failure(EACCES);
  }
  return through;
}

answer local_sockets::listen(const caller& who, const seccomp_data& call) {
  answer through;
  through.let_through = true;
  const file_descriptor socket = who.borrow(static_cast<int>(call.args[0]));
  if (network_ == network_mode::proxy_only && !local_binding_ && socket &&
      family_of(socket.get()) != AF_UNIX) {
    blocked("listen", {}, family_name(family_of(socket.get())),
            "listening needs network.allow_local_binding");
    return answer::failure(EACCES);
  }
  if (!socket || family_of(socket.get()) != AF_UNIX || is_standard_stream_of_ours(socket.get()))
    return through;
  file_descriptor file = bound_file(socket.get(), who);
  if (!file || !who.still_waits()) return through;
  if (listening_.size() >= most_listening) listening_.pop_front();
  listening_.push_back(std::move(file));
  return through;
}

} // namespace gatehouse::sandbox
