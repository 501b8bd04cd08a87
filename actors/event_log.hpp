#pragma once

#include "protocol/thread_event.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// Numbers the events of one thread and keeps the newest for whoever was away.
class event_log {
public:
  /// @param max_bytes that what is kept may hold, by a rough count
  explicit event_log(std::size_t max_bytes) : max_bytes_{max_bytes} {}

  thread_event_ptr add(std::string turn_id, thread_event_body what);

  /// What is kept after `seq`, oldest first.
  [[nodiscard]] std::vector<thread_event_ptr> after(std::uint64_t seq) const;
  [[nodiscard]] std::uint64_t last_seq() const noexcept { return last_; }

private:
  struct kept {
    thread_event_ptr event;
    std::size_t bytes = 0;
  };
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;
  std::deque<kept> events_;
};

} // namespace gatehouse::actors
