#include "reactor/line_writer.hpp"

#include "reactor/detail/watched_fd.hpp"

#include <cerrno>
#include <deque>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace gatehouse::reactor {
namespace {

constexpr std::size_t long_queue = 64 * 1024;

} // namespace

class line_writer::impl : public std::enable_shared_from_this<impl> {
public:
  impl(event_loop& loop, unique_fd fd, line_writer_listener listener)
      : loop_{loop}, fd_{loop, std::move(fd)}, listener_{std::move(listener)} {}

  void write(std::string line) {
    if (lost_) return;
    line += '\n';
    queued_ += line.size();
    was_long_ = was_long_ || queued_ > long_queue;
    queue_.push_back(std::move(line));
    if (queue_.size() == 1)
      loop_.post([self = shared_from_this()] { self->step(); }); // never inside `write`
  }
  void when_written(std::function<void()> told) {
    when_written_ = std::move(told);
    if (queue_.empty()) loop_.post([self = shared_from_this()] { self->step(); });
  }
  void abandon() {
    listener_ = {};
    when_written_ = {};
    lost_ = true;
    fd_.close();
  }
  [[nodiscard]] std::size_t queued() const noexcept { return queued_; }

private:
  void step() {
    while (!lost_ && !queue_.empty()) {
      const auto& line = queue_.front();
      const auto count = ::write(fd_.get(), line.data() + written_, line.size() - written_);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        fd_.when_writable([self = shared_from_this()] { self->step(); });
        return;
      }
      if (count < 0) {
        lost_ = true;
        queue_.clear();
        queued_ = 0;
        if (const auto lost = std::exchange(listener_, {}).on_lost) lost();
        return;
      }
      written_ += static_cast<std::size_t>(count);
      queued_ -= static_cast<std::size_t>(count);
      if (written_ < line.size()) continue;
      written_ = 0;
      queue_.pop_front();
    }
    if (lost_) return;
    // Copies: each may destroy the writer.
    if (const auto told = listener_.on_drained; std::exchange(was_long_, false) && told) told();
    if (const auto told = std::exchange(when_written_, {}); told && queue_.empty()) told();
  }

  event_loop& loop_;
  watched_fd fd_;
  line_writer_listener listener_;
  std::function<void()> when_written_;
  std::deque<std::string> queue_;
  std::size_t written_ = 0; ///< of the first line
  std::size_t queued_ = 0;
  bool was_long_ = false;
  bool lost_ = false;
};

std::unique_ptr<line_writer> line_writer::open(event_loop& loop, unique_fd fd,
                                               line_writer_listener listener) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  return std::unique_ptr<line_writer>{
      new line_writer{std::make_shared<impl>(loop, std::move(fd), std::move(listener))}};
}

line_writer::line_writer(std::shared_ptr<impl> i) : impl_{std::move(i)} {}

line_writer::~line_writer() {
  impl_->abandon();
}

void line_writer::write(std::string line) {
  impl_->write(std::move(line));
}

void line_writer::when_written(std::function<void()> told) {
  impl_->when_written(std::move(told));
}

std::size_t line_writer::queued_bytes() const noexcept {
  return impl_->queued();
}

} // namespace gatehouse::reactor
