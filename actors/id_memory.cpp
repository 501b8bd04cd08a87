#include "actors/id_memory.hpp"

#include <functional>
#include <random>
#include <utility>

namespace gatehouse::actors {

namespace {

constexpr std::size_t first_places = 64;

/// The last step of SplitMix64: every bit of the result hangs on every bit of `x`.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

} // namespace

id_memory::id_memory(std::size_t most) : most_{most}, marks_(first_places) {
  std::random_device source;
  seed_ = (std::uint64_t{source()} << 32U) | source();
}

std::uint64_t id_memory::mark_of(std::string_view id) const {
  const auto mark = mixed(std::hash<std::string_view>{}(id) + seed_);
  return mark == 0 ? 1 : mark;
}

std::size_t id_memory::place_of(std::uint64_t mark) const {
  auto place = static_cast<std::size_t>(mark) & (marks_.size() - 1);
  while (marks_[place] != 0 && marks_[place] != mark)
    place = (place + 1) & (marks_.size() - 1);
  return place;
}

bool id_memory::contains(std::string_view id) const {
  return marks_[place_of(mark_of(id))] != 0;
}

void id_memory::add(std::string_view id) {
  const auto mark = mark_of(id);
  auto& place = marks_[place_of(mark)];
  if (place != 0) return;
  place = mark;
  // Never more than half full, so that a search is short.
  if (2 * ++size_ > marks_.size()) grow();
}

void id_memory::grow() {
  const auto before = std::exchange(marks_, std::vector<std::uint64_t>(2 * marks_.size()));
  for (const auto mark : before)
    if (mark != 0) marks_[place_of(mark)] = mark;
}

} // namespace gatehouse::actors
