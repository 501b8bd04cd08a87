#include "reactor/line_reader.hpp"

#include "reactor/detail/event_loop_access.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <poll.h>

namespace gatehouse::reactor {

namespace asio = boost::asio;
using boost::system::error_code;

class line_reader::impl final : public std::enable_shared_from_this<line_reader::impl> {
public:
  impl(event_loop& loop, unique_fd fd, line_listener listener, std::size_t max_line,
       long_line beyond)
      : fd_{event_loop_access::context(loop), fd.release()},
        listener_{std::make_shared<line_listener>(std::move(listener))}, max_line_{max_line},
        beyond_{beyond} {}

  void read() {
    reading_ = true;
    fd_.async_read_some(asio::buffer(chunk_),
                        [self = shared_from_this()](error_code ec, std::size_t n) {
                          self->reading_ = false;
                          self->ahead_.append(self->chunk_.data(), n);
                          self->ended_ = ec;
                          self->go_on();
                        });
  }

  void pause() { paused_ = true; }

  void resume() {
    if (!std::exchange(paused_, false)) return;
    asio::post(fd_.get_executor(), [self = shared_from_this()] { self->go_on(); });
  }

  [[nodiscard]] bool hung_up() {
    if (!fd_.is_open()) return true;
    pollfd look{fd_.native_handle(), POLLRDHUP, 0};
    return ::poll(&look, 1, 0) > 0 && (look.revents & (POLLHUP | POLLRDHUP)) != 0;
  }

  void abandon() {
    listener_.reset();
    close();
  }

private:
  void go_on() {
    if (!listener_ || paused_ || reading_) return;
    take();
    if (!listener_ || paused_) return;
    if (ended_) return end(ended_);
    read();
  }

  void take() {
    const auto all = std::exchange(ahead_, {});
    std::string_view bytes = all;
    while (!bytes.empty()) {
      const auto at = bytes.find('\n');
      const auto part = bytes.substr(0, at);
      if (line_.size() + part.size() > max_line_ && beyond_ == long_line::ends)
        return finish(error{errc::too_large,
                            "a line of more than " + std::to_string(max_line_) +
                                " bytes on descriptor " + std::to_string(fd_.native_handle()),
                            "whoever writes it must keep its lines shorter"});
      line_ += part.substr(0, max_line_ + 1 - line_.size());
      if (at == std::string_view::npos) return;
      bytes.remove_prefix(at + 1);
      const auto line = std::exchange(line_, {});
      const auto listener = listener_; // the callback may destroy the owner
      if (listener->on_line) listener->on_line(line);
      if (!listener_) return;
      if (paused_) {
        ahead_ = bytes;
        return;
      }
    }
  }

  void end(error_code ec) {
    if (ec != asio::error::eof)
      return finish(error{errc::io, "reading lines failed: " + ec.message(), ""});
    if (!line_.empty())
      return finish(error{errc::invalid_request,
                          "the stream ended " + std::to_string(line_.size()) + " bytes into a line",
                          "its writer was cut off; do not rely on what it began to say"});
    finish({});
  }

  void finish(const result<void>& how) {
    const auto listener = std::exchange(listener_, nullptr);
    close();
    if (listener && listener->on_end) listener->on_end(how);
  }

  void close() {
    error_code ignored; // nothing more is read whatever it says
    fd_.close(ignored);
  }

  asio::posix::stream_descriptor fd_;
  std::shared_ptr<line_listener> listener_;
  const std::size_t max_line_;
  const long_line beyond_;
  bool reading_ = false, paused_ = false;
  error_code ended_;  ///< how the last read ended
  std::string ahead_; ///< read, and not yet taken apart
  std::string line_;
  std::array<char, 4096> chunk_;
};

std::unique_ptr<line_reader> line_reader::open(event_loop& loop, unique_fd fd,
                                               line_listener listener, std::size_t max_line,
                                               long_line beyond) {
  auto reader = std::make_shared<impl>(loop, std::move(fd), std::move(listener), max_line, beyond);
  reader->read();
  return std::unique_ptr<line_reader>{new line_reader{std::move(reader)}};
}

line_reader::line_reader(std::shared_ptr<impl> i) : impl_{std::move(i)} {}
line_reader::~line_reader() {
  impl_->abandon();
}

void line_reader::pause() {
  impl_->pause();
}

void line_reader::resume() {
  impl_->resume();
}

bool line_reader::hung_up() const {
  return impl_->hung_up();
}

} // namespace gatehouse::reactor
