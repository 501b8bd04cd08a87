#include "reactor/proxy_dial.hpp"

#include "reactor/detail/watched_fd.hpp"
#include "reactor/timer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace gatehouse::reactor {
namespace {

constexpr std::chrono::milliseconds next_attempt_after{250};
/// Of one connection; a name may have many addresses that all say nothing.
constexpr std::size_t most_attempts_at_once = 3;

socklen_t fill(sockaddr_storage& out, const ip_address& address, std::uint16_t port) {
  out = {};
  if (address.v6) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(out);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, address.bytes.data(), 16);
    return sizeof v6;
  }
  auto& v4 = reinterpret_cast<sockaddr_in&>(out);
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  std::memcpy(&v4.sin_addr, address.bytes.data(), 4);
  return sizeof v4;
}

/// Families in turn, beginning with that of the first.
std::vector<ip_address> interleaved(std::vector<ip_address> addresses) {
  std::vector<ip_address> first, second;
  for (auto& address : addresses)
    (address.v6 == addresses.front().v6 ? first : second).push_back(address);
  std::vector<ip_address> out;
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    if (i < first.size()) out.push_back(first[i]);
    if (i < second.size()) out.push_back(second[i]);
  }
  return out;
}

} // namespace

class dial::impl : public std::enable_shared_from_this<dial::impl> {
public:
  impl(event_loop& loop, std::vector<ip_address> addresses, std::uint16_t port, done on_done)
      : loop_{loop}, addresses_{interleaved(std::move(addresses))}, port_{port},
        done_{std::move(on_done)}, next_{loop}, limit_{loop} {}

  void begin(std::chrono::milliseconds limit) {
    limit_.start(limit, [this] {
      last_errno_ = ETIMEDOUT;
      finish({});
    });
    next_.start(std::chrono::milliseconds{0}, [this] { attempt(); });
  }

  void abandon() {
    done_ = nullptr;
    next_.cancel();
    limit_.cancel();
    for (auto& socket : open_)
      socket->close();
    open_.clear();
  }

private:
  void attempt() {
    if (at_ == addresses_.size()) {
      if (open_.empty()) finish({});
      return;
    }
    const auto& address = addresses_[at_++];
    unique_fd fd{
        ::socket(address.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    sockaddr_storage to;
    const auto size = fill(to, address, port_);
    const int on = 1;
    if (fd) ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!fd || (::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), size) != 0 &&
                errno != EINPROGRESS)) {
      last_errno_ = errno;
      next_.start(std::chrono::milliseconds{0}, [this] { attempt(); });
      return;
    }
    auto socket = std::make_shared<watched_fd>(loop_, std::move(fd));
    if (open_.size() == most_attempts_at_once) {
      open_.front()->close();
      open_.erase(open_.begin());
    }
    open_.push_back(socket);
    socket->when_writable([self = shared_from_this(), socket] { self->connected(socket); });
    next_.start(next_attempt_after, [this] { attempt(); });
  }

  void connected(const std::shared_ptr<watched_fd>& socket) {
    if (!done_) return;
    int failure = 0;
    socklen_t size = sizeof failure;
    ::getsockopt(socket->get(), SOL_SOCKET, SO_ERROR, &failure, &size);
    if (failure == 0) return finish(unique_fd{::fcntl(socket->get(), F_DUPFD_CLOEXEC, 3)});
    last_errno_ = failure;
    socket->close();
    std::erase(open_, socket);
    next_.start(std::chrono::milliseconds{0}, [this] { attempt(); });
  }

  void finish(unique_fd fd) {
    const auto self = shared_from_this();
    const auto done = std::exchange(done_, nullptr);
    const int why = last_errno_;
    abandon();
    if (!done) return;
    if (fd) return done(std::move(fd));
    done(error{errc::io, why != 0 ? std::strerror(why) : "no address answered", ""});
  }

  event_loop& loop_;
  std::vector<ip_address> addresses_;
  std::uint16_t port_;
  done done_;
  std::size_t at_ = 0;
  std::vector<std::shared_ptr<watched_fd>> open_;
  timer next_, limit_;
  int last_errno_ = 0;
};

dial::dial(event_loop& loop, std::vector<ip_address> addresses, std::uint16_t port,
           std::chrono::milliseconds limit, done on_done)
    : impl_{std::make_shared<impl>(loop, std::move(addresses), port, std::move(on_done))} {
  impl_->begin(limit);
}

dial::~dial() {
  impl_->abandon();
}

} // namespace gatehouse::reactor
