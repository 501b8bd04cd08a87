#include "actors/remote_stream.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace gatehouse::actors {
namespace {

constexpr std::size_t most_early_bytes = std::size_t{16} * 1024 * 1024;
/// Of one number, since no longer message is taken (reactor::websocket_client_terms).
constexpr std::uint64_t most_of_a_number = std::uint64_t{16} * 1024 * 1024;
/// In all, so that whoever adds it up can count on: 1 EiB.
constexpr std::uint64_t most_lost = std::uint64_t{1} << 60U;

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
    ended_ = true;
    if (!exited_) return; // its number came with none: a read tells it
    if (std::exchange(closed_, true)) return;
  }
  out.push_back(std::move(one));
}

/// It has come with a number of its own.
void remote_stream::tell_named(event one, std::vector<event>& out) {
  if (std::holds_alternative<event::exited>(one.what)) {
    exit_named_ = true;
    left_out_ = left_out_ || exits_passed_ > 0; // so what was passed over was no exit
  }
  tell(std::move(one), out);
}

/// Those that came early up to this number, and what follows upon them.
void remote_stream::tell_early(std::uint64_t to, std::vector<event>& out) {
  while (!early_.empty() && early_.begin()->first <= std::max(to, last_ + 1)) {
    auto next = early_.extract(early_.begin());
    early_bytes_ -= size_of_event(next.mapped());
    if (next.key() > last_) tell_named(std::move(next.mapped()), out);
  }
}

std::vector<remote_stream::event> remote_stream::take(event one) {
  std::vector<event> out;
  contradicts_ = contradicts_ || one.seq == 0; // no other event has its number: it would be dropped
  if (one.seq <= last_ || closed_) return out;
  if (one.seq > last_ + 1) {
    const auto size = size_of_event(one);
    if (early_.size() >= most_early_ || size > most_early_bytes - early_bytes_) {
      dropped_ = std::max(dropped_, one.seq);
      return out;
    }
    if (early_.emplace(one.seq, std::move(one)).second) early_bytes_ += size;
    return out;
  }
  tell_named(std::move(one), out);
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

/// A number is a piece of output, which has a byte at least, or an end of the process: one that
/// the answer tells, and that has not come with a number of its own.
bool remote_stream::account_for_missing(const exec_client::read_result& kept) {
  const auto known = kept.next_seq > 0 ? kept.next_seq - 1 : 0;
  if (known <= last_) return true;
  auto missing = known - last_;
  bool exit = kept.exited && !exit_named_;
  const auto is_missing = [&](std::uint64_t seq) { return seq > last_ && seq <= known; };
  for (const auto& chunk : kept.chunks)
    if (is_missing(chunk.seq) && !early_.contains(chunk.seq)) --missing;
  for (const auto& [seq, one] : early_) {
    if (is_missing(seq)) --missing;
    exit = exit && !std::holds_alternative<event::exited>(one.what);
  }
  missing -= std::min(missing, kept.lost_bytes);
  const bool has_last =
      early_.contains(known) || (!kept.chunks.empty() && kept.chunks.back().seq == known);
  if (missing > 0 && kept.closed && !has_last && !std::exchange(end_passed_, true)) --missing;
  exits_passed_ += missing;
  return exits_passed_ <= (exit ? 1U : 0U);
}

/// What no server answers that keeps to the protocol, and what would lose output without a word or
/// have us ask for ever.
bool remote_stream::is_contradictory(const exec_client::read_result& kept) const {
  const auto asked = asked_after_.value_or(0);
  if (kept.next_seq <= asked) return true; // it has said that number already
  if (kept.lost_bytes / most_of_a_number >= kept.next_seq) return true;
  if (kept.lost_bytes > most_lost - lost_in_all_) return true;
  if (kept.chunks.empty()) {
    const bool goes_on =
        dropped_ >= kept.next_seq || (!early_.empty() && early_.rbegin()->first >= kept.next_seq);
    const bool ended = kept.closed || (ended_ && asked_after_ == last_);
    return ended && (goes_on || (!kept.exited && !exited_));
  }
  return kept.chunks.front().seq <= asked || kept.chunks.back().seq >= kept.next_seq;
}

std::vector<remote_stream::event> remote_stream::take(exec_client::read_result kept) {
  std::vector<event> out;
  if (closed_) return out;
  const bool any = !kept.chunks.empty();
  const auto known = kept.next_seq > 0 ? kept.next_seq - 1 : 0;
  // Whoever has said something later, and has nothing of what comes before, never will.
  const bool has_nothing = !any && known <= last_ && is_behind() && asked_after_ == last_;
  const bool in_order = std::ranges::adjacent_find(kept.chunks, std::ranges::greater_equal{},
                                                   &event::seq) == kept.chunks.end();
  contradicts_ = contradicts_ || !in_order || is_contradictory(kept);
  left_out_ = left_out_ || has_nothing || (in_order && !account_for_missing(kept));
  if (contradicts_ || left_out_) return out;
  const auto lost = lost_of(kept);
  lost_ += lost;
  lost_in_all_ += lost;
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
  if (!any && (kept.closed || ended_) && !closed_) {
    auto end = process();
    end.what = event::closed{};
    tell(std::move(end), out);
  }
  tell_early(last_, out);
  asked_after_.reset();
  return out;
}

} // namespace gatehouse::actors
