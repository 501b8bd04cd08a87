#include "reactor/head_tail_buffer.hpp"

#include "protocol/utf8.hpp"

#include <algorithm>
#include <cstring>

namespace gatehouse::reactor {
namespace {

/// Every byte of every command passes here: sixteen at a time.
std::uint64_t count_lines(std::string_view bytes) {
  using vector [[gnu::vector_size(16)]] = unsigned char; // of both compilers, on every processor
  std::uint64_t lines = 0;
  while (bytes.size() >= sizeof(vector)) {
    vector found{}; // a count in each byte, of at most 255 rounds
    const auto rounds = std::min<std::size_t>(bytes.size() / sizeof found, 255);
    for (std::size_t i = 0; i < rounds; ++i) {
      vector some;
      std::memcpy(&some, bytes.data() + i * sizeof some, sizeof some);
      found -= reinterpret_cast<vector>(some == '\n'); // -1 where a line ends
    }
    for (std::size_t i = 0; i < sizeof found; ++i)
      lines += found[i];
    bytes.remove_prefix(rounds * sizeof found);
  }
  return lines + static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
}

/// Bytes at the beginning that may belong to a character whose first bytes are gone.
std::size_t orphaned_prefix(std::string_view bytes) {
  constexpr std::size_t longest = 3;
  std::size_t n = 0;
  while (n < std::min(longest, bytes.size()) &&
         (static_cast<unsigned char>(bytes[n]) & 0xC0u) == 0x80)
    ++n;
  return n;
}

std::string notice(std::uint64_t bytes, std::uint64_t lines) {
  return "[... " + std::to_string(bytes) + " bytes omitted, " + std::to_string(lines) +
         " line ends among them ...]\n";
}

} // namespace

head_tail_buffer::head_tail_buffer(std::size_t capacity)
    : head_capacity_{std::max<std::size_t>(capacity, 2) / 2},
      tail_capacity_{std::max<std::size_t>(capacity, 2) - head_capacity_} {}

void head_tail_buffer::append(std::string_view bytes) {
  total_bytes_ += bytes.size();
  total_lines_ += count_lines(bytes);
  const auto to_head = std::min(bytes.size(), head_capacity_ - head_.size());
  head_ += bytes.substr(0, to_head);
  append_to_tail(bytes.substr(to_head));
}

void head_tail_buffer::append_to_tail(std::string_view bytes) {
  if (bytes.size() > tail_capacity_) bytes.remove_prefix(bytes.size() - tail_capacity_);
  const auto growing = std::min(bytes.size(), tail_capacity_ - tail_.size());
  tail_ += bytes.substr(0, growing);
  bytes.remove_prefix(growing);
  while (!bytes.empty()) {
    const auto n = std::min(bytes.size(), tail_capacity_ - tail_begin_);
    std::copy_n(bytes.begin(), n, tail_.begin() + static_cast<std::ptrdiff_t>(tail_begin_));
    tail_begin_ = (tail_begin_ + n) % tail_capacity_;
    bytes.remove_prefix(n);
  }
}

head_tail_buffer::text head_tail_buffer::render() const {
  const auto in_order = tail_.substr(tail_begin_) + tail_.substr(0, tail_begin_);
  if (total_bytes_ == head_.size() + tail_.size()) return {to_valid_utf8(head_ + in_order), 0, 0};
  std::string_view head = head_, tail = in_order;
  head.remove_suffix(incomplete_utf8_suffix(head));
  tail.remove_prefix(orphaned_prefix(tail));
  text out;
  out.omitted_bytes = total_bytes_ - head.size() - tail.size();
  out.omitted_lines = total_lines_ - count_lines(head) - count_lines(tail);
  out.value = to_valid_utf8(head);
  if (!out.value.empty() && out.value.back() != '\n') out.value += '\n';
  out.value += notice(out.omitted_bytes, out.omitted_lines);
  out.value += to_valid_utf8(tail);
  return out;
}

head_tail_buffer::rest head_tail_buffer::render_after(std::uint64_t count) const {
  auto bytes = tail_.substr(tail_begin_) + tail_.substr(0, tail_begin_);
  if (total_bytes_ == head_.size() + tail_.size()) bytes.insert(0, head_);
  const auto first = total_bytes_ - bytes.size();
  rest out;
  out.from = std::min(std::max(count, first), total_bytes_);
  std::string_view wanted = bytes;
  wanted.remove_prefix(out.from - first);
  if (out.from > count) { // behind a gap
    const auto torn = orphaned_prefix(wanted);
    wanted.remove_prefix(torn);
    out.from += torn;
  }
  wanted.remove_suffix(incomplete_utf8_suffix(wanted));
  out.next = out.from + wanted.size();
  out.value = to_valid_utf8(wanted);
  return out;
}

head_tail_buffer::text head_tail_buffer::take() {
  std::string& last = tail_.empty() ? head_ : tail_;
  std::rotate(tail_.begin(), tail_.begin() + static_cast<std::ptrdiff_t>(tail_begin_), tail_.end());
  tail_begin_ = 0;
  const auto begun = incomplete_utf8_suffix(last);
  const auto kept = last.substr(last.size() - begun);
  last.resize(last.size() - begun);
  total_bytes_ -= begun;
  auto out = render();
  *this = head_tail_buffer{head_capacity_ + tail_capacity_};
  append(kept);
  return out;
}

} // namespace gatehouse::reactor
