#include "policy/rules/rule_index.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

/// Paths of one rule through the tree: alternatives multiply, and this bounds the product.
constexpr std::size_t most_paths = 256;

} // namespace

bool fits(const token_pattern& pattern, std::span<const std::string_view> words, bool exact,
          std::size_t from) noexcept {
  if (words.size() < pattern.size() || (exact && words.size() != pattern.size())) return false;
  for (auto i = from; i < pattern.size(); ++i)
    if (std::ranges::find(pattern[i], words[i]) == pattern[i].end()) return false;
  return true;
}

void rule_index::insert(rule_id id, const token_pattern& pattern, bool exact) {
  insert_below(0, 0, most_paths, id, pattern, exact);
}

void rule_index::insert_below(std::uint32_t node, std::size_t depth, std::size_t budget, rule_id id,
                              const token_pattern& pattern, bool exact) {
  const auto below = [this](std::uint32_t from, const std::string& token) {
    const auto [it, is_new] =
        edges_.try_emplace({from, token}, static_cast<std::uint32_t>(first_entry_.size()));
    if (is_new) first_entry_.push_back(none);
    return it->second;
  };
  // A word without alternatives takes no stack, however many there are; each with some halves the
  // budget at least.
  for (; depth < pattern.size() && pattern[depth].size() == 1; ++depth)
    node = below(node, pattern[depth].front());
  if (depth == pattern.size()) return attach(node, nullptr, id, exact);
  const auto& alternatives = pattern[depth];
  if (alternatives.size() > budget) return attach(node, &pattern, id, exact);
  for (const auto& token : alternatives)
    insert_below(below(node, token), depth + 1, budget / alternatives.size(), id, pattern, exact);
}

void rule_index::attach(std::uint32_t node, const token_pattern* rest, rule_id id, bool exact) {
  entries_.push_back({rest, id, first_entry_[node], exact});
  first_entry_[node] = static_cast<std::uint32_t>(entries_.size() - 1);
}

void rule_index::find(std::span<const std::string_view> words, std::vector<rule_id>& found) const {
  const auto begin = static_cast<std::ptrdiff_t>(found.size());
  std::uint32_t node = 0;
  for (std::size_t depth = 0;; ++depth) {
    for (auto e = first_entry_[node]; e != none; e = entries_[e].next) {
      const auto& at = entries_[e];
      const bool matches =
          at.rest ? fits(*at.rest, words, at.exact, depth) : !at.exact || depth == words.size();
      if (matches) found.push_back(at.id);
    }
    if (depth == words.size()) break;
    const auto next = edges_.find({node, words[depth]});
    if (next == edges_.end()) break;
    node = next->second;
  }
  std::sort(found.begin() + begin, found.end());
  found.erase(std::unique(found.begin() + begin, found.end()), found.end());
}

} // namespace gatehouse::policy
