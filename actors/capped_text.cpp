#include "actors/capped_text.hpp"

#include <algorithm>

namespace gatehouse::actors {

void capped_text::append(std::string_view bytes) {
  const auto into_head = std::min(bytes.size(), half_ - std::min(half_, head_.size()));
  head_.append(bytes.substr(0, into_head));
  bytes.remove_prefix(into_head);
  if (bytes.size() > half_) {
    dropped_ += tail_.size() + bytes.size() - half_;
    tail_.assign(bytes.substr(bytes.size() - half_));
    return;
  }
  tail_.append(bytes);
  if (tail_.size() > 2 * half_) {
    dropped_ += tail_.size() - half_;
    tail_.erase(0, tail_.size() - half_);
  }
}

std::string_view capped_text::kept_tail() const noexcept {
  const std::string_view all{tail_};
  return all.size() > half_ ? all.substr(all.size() - half_) : all;
}

std::uint64_t capped_text::omitted() const noexcept {
  return dropped_ + (tail_.size() - kept_tail().size());
}

std::string capped_text::text() const {
  if (omitted() == 0) return head_ + tail_;
  return head_ + "\n… " + std::to_string(omitted()) + " bytes omitted …\n" +
         std::string{kept_tail()};
}

} // namespace gatehouse::actors
