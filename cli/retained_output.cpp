#include "cli/retained_output.hpp"

#include <algorithm>

namespace gatehouse::cli {
namespace {

constexpr std::size_t remembered_pieces = 4096;

} // namespace

void retained_output::add(chunk said) {
  held_ += said.bytes->size() + piece_overhead;
  chunks_.push_back(std::move(said));
  while (held_ > most_bytes_) {
    const auto& oldest = chunks_.front();
    held_ -= oldest.bytes->size() + piece_overhead;
    dropped_ += oldest.bytes->size();
    gone_.emplace_back(oldest.seq, dropped_);
    if (gone_.size() > remembered_pieces) gone_.pop_front();
    chunks_.pop_front();
  }
}

std::uint64_t retained_output::missing_after(std::uint64_t seq) const {
  const auto next =
      std::upper_bound(gone_.begin(), gone_.end(), seq,
                       [](std::uint64_t s, const auto& one) { return s < one.first; });
  return dropped_ - (next == gone_.begin() ? 0 : std::prev(next)->second);
}

} // namespace gatehouse::cli
