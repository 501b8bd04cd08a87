#include "reactor/line_reader.hpp"

#include "reactor/detail/event_loop_access.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace gatehouse::reactor {

namespace asio = boost::asio;
using boost::system::error_code;

class line_reader::impl final : public std::enable_shared_from_this<line_reader::impl> {
public:
  impl(event_loop& loop, unique_fd fd, line_listener listener, std::size_t max_line)
      : fd_{event_loop_access::context(loop), fd.release()},
        listener_{std::make_shared<line_listener>(std::move(listener))}, max_line_{max_line} {}

  void read() {
    fd_.async_read_some(asio::buffer(chunk_),
                        [self = shared_from_this()](error_code ec, std::size_t n) {
                          if (n > 0) self->take({self->chunk_.data(), n});
                          if (!self->listener_) return;
                          if (ec) return self->end(ec);
                          self->read();
                        });
  }

  void abandon() {
    listener_.reset();
    close();
  }

private:
  void take(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto at = bytes.find('\n');
      if (line_.size() + std::min(at, bytes.size()) > max_line_)
        return finish(error{errc::too_large,
                            "a line of more than " + std::to_string(max_line_) +
                                " bytes on descriptor " + std::to_string(fd_.native_handle()),
                            "whoever writes it must keep its lines shorter"});
      line_ += bytes.substr(0, at);
      if (at == std::string_view::npos) return;
      bytes.remove_prefix(at + 1);
      const auto line = std::exchange(line_, {});
      const auto listener = listener_; // the callback may destroy the owner
      if (listener->on_line) listener->on_line(line);
      if (!listener_) return;
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
  std::string line_;
  std::array<char, 4096> chunk_;
};

std::unique_ptr<line_reader> line_reader::open(event_loop& loop, unique_fd fd,
                                               line_listener listener, std::size_t max_line) {
  auto reader = std::make_shared<impl>(loop, std::move(fd), std::move(listener), max_line);
  reader->read();
  return std::unique_ptr<line_reader>{new line_reader{std::move(reader)}};
}

line_reader::line_reader(std::shared_ptr<impl> i) : impl_{std::move(i)} {}
line_reader::~line_reader() {
  impl_->abandon();
}

} // namespace gatehouse::reactor
