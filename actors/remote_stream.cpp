#include "actors/remote_stream.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace gatehouse::actors {
namespace {

constexpr std::size_t most_early_bytes = std::size_t{16} * 1024 * 1024;
constexpr std::size_t most_early_events = 65'536;

std::size_t size_of_output(const remote_stream::event& one) {
  const auto* said = std::get_if<remote_stream::event::output>(&one.what);
  return said ? said->bytes.size() : 0;
}

/// Of memory, with what keeping it takes.
std::size_t size_of_event(const remote_stream::event& one) {
  constexpr std::size_t links_of_a_map = 4 * sizeof(void*);
  const auto* said = std::get_if<remote_stream::event::output>(&one.what);
  return sizeof one + sizeof one.seq + links_of_a_map + one.process_id.size() +
         (said ? said->stream.size() + said->bytes.size() : 0);
}

} // namespace

void remote_stream::tell(event one, std::vector<event>& out) {
  last_ = std::max(last_, one.seq);
  told_since_asked_ += size_of_output(one);
  if (std::holds_alternative<event::exited>(one.what)) {
    if (std::exchange(exited_, true)) return;
  } else if (std::holds_alternative<event::closed>(one.what)) {
    if (std::exchange(closed_, true)) return;
  }
  out.push_back(std::move(one));
}

/// Those that came early up to this number, and what follows upon them.
void remote_stream::tell_early(std::uint64_t to, std::vector<event>& out) {
  while (!early_.empty() && early_.begin()->first <= std::max(to, last_ + 1)) {
    auto next = early_.extract(early_.begin());
    early_bytes_ -= size_of_event(next.mapped());
    if (next.key() > last_) tell(std::move(next.mapped()), out);
  }
}

std::vector<remote_stream::event> remote_stream::take(event one) {
  std::vector<event> out;
  if (one.seq <= last_ || closed_) return out;
  if (one.seq > last_ + 1) {
    const auto size = size_of_event(one);
    if (early_.size() >= most_early_events || size > most_early_bytes - early_bytes_) {
      too_early_ = true;
      return out;
    }
    if (early_.emplace(one.seq, std::move(one)).second) early_bytes_ += size;
    return out;
  }
  tell(std::move(one), out);
  tell_early(last_, out);
  return out;
}

std::uint64_t remote_stream::ask() {
  asked_after_ = last_;
  told_since_asked_ = 0;
  return last_;
}

/// The server counts all that it keeps no longer behind the number that was asked for; of that may
/// have come by itself what was told while the read was under way, or waits as early.
std::uint64_t remote_stream::lost_of(const exec_client::read_result& kept) const {
  const auto first_kept = kept.chunks.empty() ? kept.next_seq : kept.chunks.front().seq;
  std::uint64_t here = told_since_asked_;
  for (auto it = early_.begin(); it != early_.end() && it->first < first_kept; ++it)
    here += size_of_output(it->second);
  return kept.lost_bytes - std::min(kept.lost_bytes, here);
}

/// A number is a piece of output, which has a byte at least, or an end of the process.
bool remote_stream::is_without_a_number(const exec_client::read_result& kept) const {
  const auto known = kept.next_seq > 0 ? kept.next_seq - 1 : 0;
  if (known <= last_) return false;
  auto missing = known - last_;
  const auto is_missing = [&](std::uint64_t seq) { return seq > last_ && seq <= known; };
  for (const auto& chunk : kept.chunks)
    if (is_missing(chunk.seq) && !early_.contains(chunk.seq)) --missing;
  for (const auto& [seq, one] : early_)
    if (is_missing(seq)) --missing;
  const std::uint64_t ends = (exited_ ? 0 : 1) + (kept.closed ? 1 : 0);
  return missing > ends && missing - ends > kept.lost_bytes;
}

std::vector<remote_stream::event> remote_stream::take(exec_client::read_result kept) {
  std::vector<event> out;
  if (closed_) return out;
  const bool any = !kept.chunks.empty();
  // Each answer with output brings news, so that asking on comes to an end.
  const auto unordered = std::ranges::adjacent_find(kept.chunks, std::ranges::greater_equal{},
                                                    &event::seq) != kept.chunks.end();
  repeats_ = repeats_ || unordered || (any && kept.chunks.front().seq <= asked_after_.value_or(0));
  left_out_ = left_out_ || is_without_a_number(kept);
  if (repeats_ || left_out_) return out;
  lost_ += lost_of(kept);
  const auto known = kept.next_seq > 0 ? kept.next_seq - 1 : 0;
  for (auto& chunk : kept.chunks) {
    tell_early(chunk.seq - std::min<std::uint64_t>(chunk.seq, 1), out);
    if (chunk.seq > last_) tell(std::move(chunk), out);
  }
  tell_early(known, out);
  last_ = std::max(last_, known);
  // An answer with output may have been cut short; how the process ended counts when none is left.
  wants_read_ = any;
  const auto process = [&] {
    event end;
    end.seq = last_;
    return end;
  };
  if (!any && kept.exited && !exited_) {
    auto end = process();
    end.what = event::exited{kept.exit_code.value_or(-1), kept.sandbox_denied};
    tell(std::move(end), out);
  }
  if (!any && kept.closed && !closed_) {
    auto end = process();
    end.what = event::closed{};
    tell(std::move(end), out);
  }
  tell_early(last_, out);
  // Whoever has said something later, and has nothing of what comes before, never will.
  left_out_ = left_out_ || (!any && !early_.empty() && asked_after_ == last_);
  asked_after_.reset();
  return out;
}

} // namespace gatehouse::actors
