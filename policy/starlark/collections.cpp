#include "policy/starlark/each_item.hpp"
#include "policy/starlark/operators.hpp"

#include <algorithm>

namespace gatehouse::policy::starlark {
namespace {

/// Up to here a dict is searched entry by entry.
constexpr std::size_t small_dict = 8;

constexpr std::size_t absent = SIZE_MAX;

std::size_t position_of(evaluator& on, const dict_object& dict, const value& key,
                        std::uint64_t key_hash) {
  const auto is_it = [&](std::size_t i) {
    on.spend(1);
    return dict.entries[i].hash == key_hash && equal(on, dict.entries[i].key, key);
  };
  if (dict.entries.size() <= small_dict) {
    for (std::size_t i = 0; i < dict.entries.size(); ++i)
      if (is_it(i)) return i;
    return absent;
  }
  const auto [first, last] = dict.by_hash.equal_range(key_hash);
  for (auto it = first; it != last; ++it)
    if (is_it(it->second)) return it->second;
  return absent;
}

void index_entries(dict_object& dict) {
  dict.by_hash.clear();
  if (dict.entries.size() <= small_dict) return;
  for (std::uint32_t i = 0; i < dict.entries.size(); ++i)
    dict.by_hash.emplace(dict.entries[i].hash, i);
}

} // namespace

void require_mutable(const list_object& list) {
  if (list.iterations > 0) raise("a list cannot be changed while a loop runs over it");
}
void require_mutable(const dict_object& dict) {
  if (dict.iterations > 0) raise("a dict cannot be changed while a loop runs over it");
}

value* find_key(evaluator& on, dict_object& dict, const value& key) {
  const auto i = position_of(on, dict, key, hash(on, key));
  return i == absent ? nullptr : &dict.entries[i].item;
}

void set_key(evaluator& on, dict_object& dict, const value& key, const value& item) {
  require_mutable(dict);
  const auto key_hash = hash(on, key);
  if (const auto i = position_of(on, dict, key, key_hash); i != absent) {
    dict.entries[i].item = item;
    return;
  }
  dict.entries.push_back({key, item, key_hash});
  if (dict.entries.size() == small_dict + 1)
    index_entries(dict);
  else if (dict.entries.size() > small_dict)
    dict.by_hash.emplace(key_hash, static_cast<std::uint32_t>(dict.entries.size() - 1));
}

bool erase_key(evaluator& on, dict_object& dict, const value& key) {
  require_mutable(dict);
  const auto i = position_of(on, dict, key, hash(on, key));
  if (i == absent) return false;
  on.spend(dict.entries.size());
  dict.entries.erase(dict.entries.begin() + static_cast<std::ptrdiff_t>(i));
  index_entries(dict);
  return true;
}

value new_dict(evaluator& on) {
  return of(on.heap().make<dict_object>(on.heap()));
}

value new_list(evaluator& on, std::span<const value> items) {
  auto* made = on.heap().make<list_object>(on.heap());
  made->items.assign(items.begin(), items.end());
  return of(made);
}

value new_tuple(evaluator& on, std::span<const value> items) {
  auto* made = on.heap().make<tuple_object>();
  made->items = on.heap().copy(items);
  return of(made);
}

value list_from(evaluator& on, const value& iterable) {
  const auto made = new_list(on, {});
  each_item(on, iterable, [&](const value& item) {
    made.list->items.push_back(item);
    return true;
  });
  return made;
}

value tuple_from(evaluator& on, const value& iterable) {
  if (iterable.is(value_kind::tuple)) return iterable;
  const auto items = list_from(on, iterable);
  auto* made = on.heap().make<tuple_object>();
  made->items = items.list->items;
  return of(made);
}

} // namespace gatehouse::policy::starlark
