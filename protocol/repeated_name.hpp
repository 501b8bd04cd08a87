#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace gatehouse {

/// A name that stands twice among `names`. Takes n·log n comparisons whatever the names are: a
/// stranger chooses them, and could choose those that meet in one place of a hash table.
template <class Less = std::less<>>
std::optional<std::string_view> repeated_name(std::vector<std::string_view> names, Less less = {}) {
  std::sort(names.begin(), names.end(), std::ref(less));
  const auto twice =
      std::adjacent_find(names.begin(), names.end(), [&](auto a, auto b) { return !less(a, b); });
  if (twice == names.end()) return std::nullopt;
  return *twice;
}

} // namespace gatehouse
