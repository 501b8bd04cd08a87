#include "sandbox/init_talk.hpp"

#include <cstdint>

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace gatehouse::sandbox::init {

int take_number(const char*& text) {
  int number = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    number = number * 10 + (*text - '0');
  return number;
}

void send(int control, const message& m, int attached) {
  message copy = m;
  iovec data{&copy, sizeof copy};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (attached >= 0) {
    header.msg_control = space;
    header.msg_controllen = sizeof space;
    auto* part = reinterpret_cast<cmsghdr*>(space);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(part), &attached, sizeof attached);
  }
  while (kernel_call(SYS_sendmsg, control, &header, MSG_NOSIGNAL) == -EINTR) {
  }
}

} // namespace gatehouse::sandbox::init
