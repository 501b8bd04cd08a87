#include "cli/line_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace gatehouse::cli {

line_reader::status line_reader::next(std::string_view& line) {
  for (;;) {
    const auto end = buffer_.find('\n', std::max(start_, scanned_));
    if (end != std::string::npos) {
      line = std::string_view{buffer_}.substr(start_, end - start_);
      start_ = scanned_ = end + 1;
      if (!std::exchange(skipping_, false) && line.size() <= max_line_bytes) return status::line;
      return status::too_long;
    }
    if (ended_) {
      if (start_ == buffer_.size() && !skipping_) return status::end;
      line = std::string_view{buffer_}.substr(start_);
      start_ = scanned_ = buffer_.size();
      if (!std::exchange(skipping_, false) && line.size() <= max_line_bytes) return status::line;
      return status::too_long;
    }
    buffer_.erase(0, start_);
    start_ = 0;
    if (buffer_.size() > max_line_bytes) {
      skipping_ = true;
      buffer_.clear();
    }
    const auto old_size = buffer_.size();
    scanned_ = old_size;
    buffer_.resize(old_size + 65536);
    const auto count = ::read(fd_, buffer_.data() + old_size, 65536);
    const int number = errno;
    buffer_.resize(old_size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && number != EINTR) {
      errno = number;
      return status::failed;
    }
    ended_ = count == 0;
  }
}

bool line_reader::would_wait() const {
  if (ended_ || buffer_.find('\n', start_) != std::string::npos) return false;
  pollfd input{fd_, POLLIN, 0};
  return ::poll(&input, 1, 0) == 0;
}

} // namespace gatehouse::cli
