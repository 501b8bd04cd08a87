#include "reactor/line_channel.hpp"

#include "reactor/detail/event_loop_access.hpp"
#include "reactor/line_reader.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>

#include <deque>
#include <utility>

namespace gatehouse::reactor {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class line_channel final : public message_channel,
                           public std::enable_shared_from_this<line_channel> {
public:
  line_channel(event_loop& loop, unique_fd output, line_channel_limits limits)
      : loop_{loop}, limits_{limits}, output_{event_loop_access::context(loop)} {
    error_code ignored; // the first write says so too
    output_.assign(output.release(), ignored);
  }

  void listen(unique_fd input) {
    const std::weak_ptr<line_channel> weak = shared_from_this();
    reader_ =
        line_reader::open(loop_, std::move(input),
                          {[weak](std::string_view line) {
                             const auto self = weak.lock();
                             if (!self || self->closed_) return;
                             if (const auto events = self->events_; events && events->on_message)
                               events->on_message(line);
                           },
                           [weak](const result<void>&) {
                             if (const auto self = weak.lock()) self->end_soon();
                           }},
                          limits_.message);
    self_ = shared_from_this();
  }

  void set_events(channel_events events) override {
    events_ = std::make_shared<channel_events>(std::move(events));
  }

  void send(std::string text) override {
    if (closed_ || closing_) return;
    text += '\n';
    queued_ += text.size();
    queue_.push_back(std::move(text));
    was_full_ |= full();
    write();
  }

  [[nodiscard]] bool full() const noexcept override { return queued_ > limits_.send_queue; }

  void close(std::uint16_t, std::string) override {
    closing_ = true;
    if (queue_.empty()) end_soon();
  }

private:
  void write() {
    if (writing_ || queue_.empty() || closed_) return;
    writing_ = true;
    asio::async_write(
        output_, asio::buffer(queue_.front()),
        [self = shared_from_this()](error_code ec, std::size_t) { self->on_written(ec); });
  }

  void on_written(error_code ec) {
    writing_ = false;
    if (ec) return end();
    queued_ -= queue_.front().size();
    queue_.pop_front();
    if (queue_.empty() && closing_) return end();
    write();
    if (was_full_ && queued_ <= limits_.send_queue / 2) {
      was_full_ = false;
      if (const auto events = events_; events && events->on_drained) events->on_drained();
    }
  }

  void end_soon() {
    loop_.post([self = shared_from_this()] { self->end(); });
  }

  void end() {
    if (std::exchange(closed_, true)) return;
    reader_.reset();
    error_code ignored; // it is gone whatever this says
    output_.close(ignored);
    queue_.clear();
    queued_ = 0;
    const auto keep = std::exchange(self_, {});
    if (const auto events = std::exchange(events_, {}); events && events->on_close)
      events->on_close();
  }

  event_loop& loop_;
  const line_channel_limits limits_;
  asio::posix::stream_descriptor output_;
  std::unique_ptr<line_reader> reader_;
  std::shared_ptr<line_channel> self_; ///< while it is open
  std::shared_ptr<channel_events> events_;
  std::deque<std::string> queue_;
  std::size_t queued_ = 0;
  bool writing_ = false;
  bool was_full_ = false;
  bool closing_ = false;
  bool closed_ = false;
};

} // namespace

channel_ptr open_line_channel(event_loop& loop, unique_fd input, unique_fd output,
                              line_channel_limits limits) {
  const auto made = std::make_shared<line_channel>(loop, std::move(output), limits);
  made->listen(std::move(input));
  return made;
}

} // namespace gatehouse::reactor
