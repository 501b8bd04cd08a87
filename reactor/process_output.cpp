#include "reactor/detail/process_impl.hpp"
#include "reactor/read_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace gatehouse::reactor {
namespace {

constexpr std::size_t default_pipe_bytes = 64 * 1024;

} // namespace

void process::impl::grant(output_stream stream) {
  auto& c = channels_[static_cast<std::size_t>(stream)];
  ++c.credit;
  read(c);
}

void process::impl::read(channel& c) {
  if (!c.fd.is_open() || c.reading || c.credit == 0 || cutting_) return;
  --c.credit;
  c.reading = true;
  c.fd.async_wait(stream_descriptor::wait_read,
                  [self = shared_from_this(), &c](error_code) { self->on_readable(c); });
}

void process::impl::on_readable(channel& c) {
  if (c.fd.is_open() && !cutting_) take(c);
  c.reading = false;
  if (!c.fd.is_open()) return finish_when_drained();
  if (cutting_)
    read_rest(c);
  else
    read(c);
  finish_when_drained();
}

void process::impl::take(channel& c) {
  auto& bytes = read_memory();
  std::size_t size = 0;
  bool at_end = false;
  while (size < read_block) {
    const auto n = ::read(c.fd.native_handle(), bytes.data() + size, read_block - size);
    if (n < 0 && errno == EINTR) continue;
    at_end = n == 0 || (n < 0 && errno != EAGAIN); // on a terminal the end is EIO
    if (n <= 0) break;
    size += static_cast<std::size_t>(n);
    if (!terminal_) break;
  }
  if (size == 0 && !at_end) ++c.credit; // woken for nothing
  // Still "reading" for the callback: its `grant` must not start a second wait.
  if (size > 0) tell(&process_listener::on_output, name(c), std::string_view{bytes.data(), size});
  if (at_end) close(c);
}

void process::impl::cut() {
  cutting_ = true;
  const auto self = shared_from_this();
  for (auto& c : channels_) {
    if (c.reading)
      c.fd.cancel(); // its handler takes the rest
    else if (c.fd.is_open())
      read_rest(c);
  }
  finish_when_drained();
}

void process::impl::read_rest(channel& c) {
  // Bounded, since whoever holds the other end may write faster than we read.
  const int pipe_bytes = ::fcntl(c.fd.native_handle(), F_GETPIPE_SZ);
  auto left = pipe_bytes > 0 ? static_cast<std::size_t>(pipe_bytes) : default_pipe_bytes;
  bool at_end = false;
  while (left > 0) {
    auto& bytes = read_memory();
    const auto n = ::read(c.fd.native_handle(), bytes.data(), std::min(left, read_block));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      at_end = n == 0 || errno == EIO;
      break;
    }
    left -= static_cast<std::size_t>(n);
    tell(&process_listener::on_output, name(c),
         std::string_view{bytes.data(), static_cast<std::size_t>(n)});
    if (!c.fd.is_open()) return;
  }
  end_.drain_cut |= !at_end;
  close(c);
}

void process::impl::close(channel& c) {
  error_code ignored; // nothing more can be read whatever it says
  c.fd.close(ignored);
}

bool process::impl::any_open() const {
  return std::any_of(channels_.begin(), channels_.end(),
                     [](const channel& c) { return c.fd.is_open(); });
}

output_stream process::impl::name(const channel& c) const {
  return &c == &channels_[0] ? output_stream::standard_output : output_stream::standard_error;
}

} // namespace gatehouse::reactor
