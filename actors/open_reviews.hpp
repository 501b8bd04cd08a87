#pragma once

#include "protocol/result.hpp"
#include "protocol/review.hpp"
#include "protocol/thread_event.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

/// The questions of a thread that stand before a person. Values: they survive every client, are
/// offered again under the same id, and the first answer that fits takes one away.
class open_reviews {
public:
  /// @param shown the event in which it was published: a thread_events::review_asked
  void add(thread_event_ptr shown);
  /// False when it does not stand (any more).
  bool withdraw(std::string_view review_id);

  /// The question that `answer` settles; it stands no more. A yes must carry the digest of what was
  /// shown and be on offer; a no counts whatever it carries. Else errc::invalid_request, and the
  /// question still stands.
  result<review_request> settle(const review_answer& answer);

  [[nodiscard]] bool empty() const noexcept { return open_.empty(); }
  /// As they were published, oldest first.
  [[nodiscard]] std::vector<thread_event_ptr> shown() const;

private:
  std::map<std::string, thread_event_ptr, std::less<>> open_; ///< by review id
};

} // namespace gatehouse::actors
