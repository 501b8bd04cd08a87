#pragma once

#include "protocol/thread_event.hpp"
#include "reactor/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <string>
#include <utility>
#include <vector>

namespace gatehouse::actors {

/// Numbers the events of one thread and keeps the newest for whoever was away. Where there are too
/// many, pieces of output go first while they hold more than half of the room: the end of their
/// call says the whole output again. Below that the oldest ends of calls lose their output and say
/// so; last the oldest of all else goes, which was heard long ago.
class event_log {
public:
  /// @param max_bytes that what is kept may hold, by a rough count; the newest event is kept
  /// whatever its size
  explicit event_log(std::size_t max_bytes,
                     std::function<std::int64_t()> unix_ms = reactor::unix_ms_now)
      : max_bytes_{max_bytes}, unix_ms_{std::move(unix_ms)} {}

  thread_event_ptr add(std::string turn_id, thread_event_body what);

  /// What is kept after `seq`, oldest first; a jump of the numbers shows what is not.
  [[nodiscard]] std::vector<thread_event_ptr> after(std::uint64_t seq) const;
  [[nodiscard]] std::uint64_t last_seq() const noexcept { return last_; }

private:
  struct kept {
    thread_event_ptr event;
    std::size_t bytes = 0;
  };
  void make_room();
  /// False: there is none but the newest event.
  bool shorten_oldest_end();

  std::size_t max_bytes_;
  std::function<std::int64_t()> unix_ms_;
  std::size_t bytes_ = 0;
  std::size_t delta_bytes_ = 0; ///< of these
  std::uint64_t last_ = 0;
  std::list<kept> deltas_; ///< pieces of output; each list by rising numbers
  std::list<kept> others_;
  std::deque<std::list<kept>::iterator> whole_ends_; ///< ends of calls that have their output
};

} // namespace gatehouse::actors
