#include "reactor/delta_coalescer.hpp"

#include "protocol/utf8.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::reactor {

void delta_coalescer::append(output_stream stream, std::string_view bytes, clock::time_point now) {
  if (bytes.empty()) return;
  auto& c = channels_[static_cast<std::size_t>(stream)];
  c.bytes += bytes;
  note(c, bytes, now);
}

void delta_coalescer::adopt(output_stream stream, std::string bytes, clock::time_point now) {
  auto& c = channels_[static_cast<std::size_t>(stream)];
  // What waits is a begun character or else not much.
  if (c.bytes.size() >= bytes.size()) return append(stream, bytes, now);
  note(c, bytes, now);
  bytes.insert(0, c.bytes);
  c.bytes = std::move(bytes);
}

void delta_coalescer::note(channel& c, std::string_view came, clock::time_point now) const {
  if (!c.since) c.since = now;
  if (limits_.terminal && !c.line && came.find('\n') != std::string_view::npos) c.line = now;
}

std::optional<clock::time_point> delta_coalescer::due_of(const channel& c) const {
  if (!c.since) return std::nullopt;
  const auto full_wait = *c.since + limits_.wait;
  return c.line ? std::min(full_wait, *c.line + line_wait) : full_wait;
}

bool delta_coalescer::is_due(const channel& c, clock::time_point now) const {
  return c.since && (c.bytes.size() >= limits_.bytes || *due_of(c) <= now);
}

std::vector<output_delta> delta_coalescer::take(clock::time_point now) {
  std::vector<output_delta> out;
  const bool due[] = {is_due(channels_[0], now), is_due(channels_[1], now)};
  if (!due[0] && !due[1]) return out;
  // The stream that began earlier goes first, due or not: readers see the order of arrival.
  const auto first = earlier();
  if (channels_[first].since) emit(first, false, out);
  if (due[1 - first]) emit(1 - first, false, out);
  return out;
}

std::vector<output_delta> delta_coalescer::take_all() {
  std::vector<output_delta> out;
  const auto first = earlier();
  emit(first, true, out);
  emit(1 - first, true, out);
  return out;
}

std::size_t delta_coalescer::earlier() const {
  const auto &a = channels_[0].since, &b = channels_[1].since;
  return b && (!a || *b < *a) ? 1 : 0;
}

/// How much of `bytes` the next delta takes, if all of it is to go.
std::size_t delta_coalescer::next_piece(std::string_view bytes, bool short_output) const {
  const auto most = std::min(bytes.size(), std::max(limits_.bytes, limits_.largest));
  if (!short_output) return most;
  const auto end = bytes.find('\n');
  // A beginning of a line has nothing of its own to wait for: it goes with the line before.
  if (end == std::string_view::npos || bytes.find('\n', end + 1) == std::string_view::npos)
    return most;
  return std::min(most, end + 1);
}

void delta_coalescer::emit(std::size_t index, bool whole, std::vector<output_delta>& out) {
  auto& c = channels_[index];
  const std::string_view bytes = c.bytes;
  constexpr std::size_t little = 1024;
  const bool short_output = limits_.terminal && bytes.size() <= little;
  std::size_t done = 0;
  while (done < bytes.size()) {
    auto piece = bytes.substr(done, next_piece(bytes.substr(done), short_output));
    const bool last = done + piece.size() == bytes.size();
    // A character that later bytes complete stays; one that nothing completes is given out.
    if (!last || !whole) {
      const auto begun = incomplete_utf8_suffix(piece);
      if (begun == piece.size() && last) break;
      if (begun < piece.size()) piece.remove_suffix(begun);
    }
    const bool alone = done == 0 && last && c.bytes.capacity() <= 2 * piece.size();
    done += piece.size();
    if (announced_ < limits_.deltas) {
      ++announced_;
      if (alone) { // all but a begun character goes: its memory with it
        std::string left{bytes.substr(done)};
        c.bytes.resize(done);
        out.push_back({static_cast<output_stream>(index), std::exchange(c.bytes, std::move(left))});
        done = 0;
        break;
      }
      out.push_back({static_cast<output_stream>(index), std::string{piece}});
    } else {
      unannounced_ += piece.size();
    }
    if (last) break;
  }
  c.bytes.erase(0, done);
  c.since.reset(); // a begun character waits for its rest however long that takes
  c.line.reset();
  if (c.bytes.empty() && c.bytes.capacity() > limits_.bytes) std::string{}.swap(c.bytes);
}

std::optional<clock::time_point> delta_coalescer::due() const {
  std::optional<clock::time_point> earliest;
  for (const auto& c : channels_)
    if (const auto one = due_of(c))
      earliest = std::min(earliest.value_or(clock::time_point::max()), *one);
  return earliest;
}

} // namespace gatehouse::reactor
