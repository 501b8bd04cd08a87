#include "actors/event_log.hpp"

#include <algorithm>
#include <iterator>
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
    return size_of(item->what) + (item->patch ? item->patch->text.size() : 0);
  if (const auto* asked = std::get_if<thread_events::review_asked>(&body))
    return 2 * size_of(asked->question.what) + // the digest holds it all again
           asked->question.reason.size() + asked->question.will_be_allowed.size();
  if (const auto* delta = std::get_if<thread_events::output_delta>(&body))
    return delta->bytes.size();
  if (const auto* item = std::get_if<thread_events::item_ended>(&body))
    return kept_bytes(*item->report);
  return 0;
}

} // namespace

thread_event_ptr event_log::add(std::string turn_id, thread_event_body what) {
  const auto bytes = sizeof(thread_event) + size_of(what);
  auto event = std::make_shared<const thread_event>(
      thread_event{++last_, std::move(turn_id), std::move(what), unix_ms_()});
  const bool delta = std::holds_alternative<thread_events::output_delta>(event->what);
  (delta ? deltas_ : others_).push_back({event, bytes});
  if (std::holds_alternative<thread_events::item_ended>(event->what))
    whole_ends_.push_back(std::prev(others_.end()));
  bytes_ += bytes;
  if (delta) delta_bytes_ += bytes;
  make_room();
  return event;
}

void event_log::make_room() {
  const auto can_go = [this](const std::list<kept>& from) {
    return !from.empty() && from.front().event->seq != last_;
  };
  while (bytes_ > max_bytes_ && deltas_.size() + others_.size() > 1) {
    const bool delta = can_go(deltas_) && (2 * delta_bytes_ > max_bytes_ || !can_go(others_));
    if (!delta && shorten_oldest_end()) continue;
    auto& from = delta ? deltas_ : others_;
    bytes_ -= from.front().bytes;
    if (delta) delta_bytes_ -= from.front().bytes;
    from.pop_front();
  }
}

bool event_log::shorten_oldest_end() {
  if (whole_ends_.empty() || whole_ends_.front()->event->seq == last_) return false;
  auto& [event, bytes] = *whole_ends_.front();
  whole_ends_.pop_front();
  const auto& whole = std::get<thread_events::item_ended>(event->what);
  thread_event_body outcome = thread_events::item_ended{
      std::make_shared<const call_report>(outcome_of(*whole.report)), whole.patch};
  const auto now = sizeof(thread_event) + size_of(outcome);
  if (now >= bytes) return true; // there was nothing to leave out
  bytes_ -= bytes - now;
  bytes = now;
  event = std::make_shared<const thread_event>(
      thread_event{event->seq, event->turn_id, std::move(outcome), event->unix_ms});
  return true;
}

std::vector<thread_event_ptr> event_log::after(std::uint64_t seq) const {
  const auto newer = [seq](const std::list<kept>& all) {
    return std::find_if(all.rbegin(), all.rend(),
                        [seq](const kept& k) { return k.event->seq <= seq; })
        .base();
  };
  std::vector<thread_event_ptr> found;
  auto delta = newer(deltas_);
  auto other = newer(others_);
  while (delta != deltas_.end() || other != others_.end()) {
    const bool first =
        other == others_.end() || (delta != deltas_.end() && delta->event->seq < other->event->seq);
    found.push_back((first ? delta++ : other++)->event);
  }
  return found;
}

} // namespace gatehouse::actors
