#include "cli/key_reader.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace gatehouse::cli {

key_reader::key_reader(reactor::event_loop& loop, int terminal,
                       std::function<void(std::string)> on_keys)
    : loop_{loop}, terminal_{terminal}, on_keys_{std::move(on_keys)} {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) == 0) {
    wake_read_ = reactor::unique_fd{ends[0]};
    wake_write_ = reactor::unique_fd{ends[1]};
  }
  take();
  // A read of a terminal blocks when the program is in the background; the loop must not.
  thread_ = std::thread{[this] { read_on(); }};
}

key_reader::~key_reader() {
  wake_write_.reset();
  thread_.join();
  give_back();
}

void key_reader::take() {
  termios now{};
  if (::tcgetattr(terminal_, &now) != 0) return;
  if (!before_) before_ = now;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  now.c_cc[VMIN] = 1;
  now.c_cc[VTIME] = 0;
  ::tcsetattr(terminal_, TCSADRAIN, &now);
}

void key_reader::give_back() {
  if (before_) ::tcsetattr(terminal_, TCSADRAIN, &*before_);
}

void key_reader::read_on() {
  for (;;) {
    pollfd wanted[2] = {{terminal_, POLLIN, 0}, {wake_read_.get(), POLLIN, 0}};
    if (::poll(wanted, 2, -1) < 0 && errno != EINTR) return;
    if (wanted[1].revents != 0) return;
    if (wanted[0].revents == 0) continue;
    char keys[256];
    const auto count = ::read(terminal_, keys, sizeof keys);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    std::string typed{keys, count > 0 ? static_cast<std::size_t>(count) : 0};
    loop_.post([this, typed] { on_keys_(typed); });
    if (count <= 0) return;
  }
}

} // namespace gatehouse::cli
