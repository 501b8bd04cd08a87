#include "actors/event_log.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::actors {
namespace {

std::size_t size_of(const std::vector<std::string>& words) {
  std::size_t bytes = 0;
  for (const auto& word : words)
    bytes += sizeof(std::string) + word.size();
  return bytes;
}

std::size_t size_of(const proposal& what) {
  return size_of(what.argv) + what.cwd.size() + what.justification.size();
}

std::size_t size_of(const thread_event_body& body) {
  if (const auto* item = std::get_if<thread_events::item_started>(&body))
    return size_of(item->what);
  if (const auto* asked = std::get_if<thread_events::review_asked>(&body))
    return 2 * size_of(asked->question.what); // the digest holds it all again
  if (const auto* delta = std::get_if<thread_events::output_delta>(&body))
    return delta->bytes.size();
  if (const auto* item = std::get_if<thread_events::item_ended>(&body)) {
    const auto& output = item->report->output;
    return output.stdout_text.size() + output.stderr_text.size() + output.aggregated.size() +
           item->report->message.size();
  }
  return 0;
}

} // namespace

thread_event_ptr event_log::add(std::string turn_id, thread_event_body what) {
  const auto bytes = sizeof(thread_event) + size_of(what);
  auto event = std::make_shared<const thread_event>(
      thread_event{++last_, std::move(turn_id), std::move(what)});
  events_.push_back({event, bytes});
  bytes_ += bytes;
  while (bytes_ > max_bytes_) {
    bytes_ -= events_.front().bytes;
    events_.pop_front();
  }
  return event;
}

std::vector<thread_event_ptr> event_log::after(std::uint64_t seq) const {
  std::vector<thread_event_ptr> newer;
  const auto first = std::partition_point(events_.begin(), events_.end(),
                                          [seq](const kept& k) { return k.event->seq <= seq; });
  for (auto it = first; it != events_.end(); ++it)
    newer.push_back(it->event);
  return newer;
}

} // namespace gatehouse::actors
