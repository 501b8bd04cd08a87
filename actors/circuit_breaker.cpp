#include "actors/circuit_breaker.hpp"

#include <algorithm>

namespace gatehouse::actors {
namespace {

constexpr std::size_t most_in_a_row = 3;
constexpr std::size_t most_recent = 10;
constexpr std::size_t window = 50;

} // namespace

void circuit_breaker::note(bool refusal) {
  if (open()) return;
  recent_.push_back(refusal);
  if (recent_.size() > window) recent_.pop_front();
  in_a_row_ = refusal ? in_a_row_ + 1 : 0;
  const auto refusals = std::count(recent_.begin(), recent_.end(), true);
  if (in_a_row_ >= most_in_a_row)
    reason_ = "the automatic reviewer has refused " + std::to_string(in_a_row_) +
              " actions in a row; the turn is stopped until the user decides";
  else if (static_cast<std::size_t>(refusals) >= most_recent)
    reason_ = "the automatic reviewer has refused " + std::to_string(refusals) + " of the last " +
              std::to_string(recent_.size()) +
              " actions; the turn is stopped until the user decides";
}

} // namespace gatehouse::actors
