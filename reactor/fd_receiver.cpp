#include "reactor/fd_receiver.hpp"

#include "reactor/detail/watched_fd.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>

namespace gatehouse::reactor {

class fd_receiver::impl : public std::enable_shared_from_this<fd_receiver::impl> {
public:
  impl(event_loop& loop, unique_fd channel, std::function<void(unique_fd, std::uint32_t)> on_fd)
      : channel_{loop, std::move(channel)}, on_fd_{std::move(on_fd)} {}

  void read() {
    channel_.when_readable([self = shared_from_this()] {
      if (self->take()) self->read();
    });
  }
  void close() {
    on_fd_ = nullptr;
    channel_.close();
  }

private:
  /// False: nothing more is to come.
  bool take() {
    std::uint32_t tag = 0;
    iovec data{&tag, sizeof tag};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))];
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = space;
    header.msg_controllen = sizeof space;
    const auto size = ::recvmsg(channel_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    unique_fd fd;
    for (auto* part = size >= 0 ? CMSG_FIRSTHDR(&header) : nullptr; part;
         part = CMSG_NXTHDR(&header, part)) {
      if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part), sizeof number);
      fd.reset(number);
    }
    if (size != sizeof tag || !fd || (header.msg_flags & MSG_CTRUNC) != 0) {
      channel_.close();
      return false;
    }
    const auto on_fd = on_fd_; // the callback may destroy the owner
    if (on_fd) on_fd(std::move(fd), tag);
    return on_fd_ != nullptr;
  }

  watched_fd channel_;
  std::function<void(unique_fd, std::uint32_t)> on_fd_;
};

fd_receiver::fd_receiver(event_loop& loop, unique_fd channel,
                         std::function<void(unique_fd, std::uint32_t)> on_fd)
    : impl_{std::make_shared<impl>(loop, std::move(channel), std::move(on_fd))} {
  impl_->read();
}

fd_receiver::~fd_receiver() {
  impl_->close();
}

} // namespace gatehouse::reactor
