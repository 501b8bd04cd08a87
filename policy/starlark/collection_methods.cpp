#include "policy/starlark/arguments.hpp"
#include "policy/starlark/each_item.hpp"

#include <array>

namespace gatehouse::policy::starlark {
namespace {

using arguments = const call_arguments&;

list_object& list_of(arguments a) {
  return *a.receiver.list;
}
dict_object& dict_of(arguments a) {
  return *a.receiver.dict;
}

value append(evaluator&, arguments a) {
  const argument_reader args{"append", a, 1};
  require_mutable(list_of(a));
  list_of(a).items.push_back(args.need(0));
  return none();
}

value list_clear(evaluator&, arguments a) {
  const argument_reader args{"clear", a, 0};
  require_mutable(list_of(a));
  list_of(a).items.clear();
  return none();
}

value extend(evaluator& on, arguments a) {
  const argument_reader args{"extend", a, 1};
  const auto added = tuple_from(on, args.need(0)).tuple->items;
  require_mutable(list_of(a));
  list_of(a).items.insert(list_of(a).items.end(), added.begin(), added.end());
  return none();
}

std::size_t position_in(evaluator& on, std::span<const value> items, const value& wanted) {
  for (std::size_t i = 0; i < items.size(); ++i)
    if (equal(on, items[i], wanted)) return i;
  raise("the value " + repr_of(on, wanted) + " is not in the list");
}

value list_index(evaluator& on, arguments a) {
  const argument_reader args{"index", a, 3};
  const auto& items = list_of(a).items;
  const auto size = static_cast<std::int64_t>(items.size());
  const auto place = [&](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size);
  };
  const auto start = place(args.integer_or(1, 0));
  const auto end = std::max(start, place(args.integer_or(2, size)));
  const auto searched = std::span<const value>{items}.subspan(
      static_cast<std::size_t>(start), static_cast<std::size_t>(end - start));
  return of(start + static_cast<std::int64_t>(position_in(on, searched, args.need(0))));
}

value insert(evaluator& on, arguments a) {
  const argument_reader args{"insert", a, 2};
  (void)args.need(1);
  auto& items = list_of(a).items;
  require_mutable(list_of(a));
  const auto size = static_cast<std::int64_t>(items.size());
  const auto raw = args.integer_or(0, 0);
  const auto at = std::clamp<std::int64_t>(raw < 0 ? raw + size : raw, 0, size);
  on.spend(items.size());
  items.insert(items.begin() + at, args.need(1));
  return none();
}

value list_pop(evaluator& on, arguments a) {
  const argument_reader args{"pop", a, 1};
  auto& items = list_of(a).items;
  require_mutable(list_of(a));
  const auto at = args.integer_or(0, static_cast<std::int64_t>(items.size()) - 1);
  const auto from_start = at < 0 ? at + static_cast<std::int64_t>(items.size()) : at;
  if (items.empty() || from_start < 0 || from_start >= static_cast<std::int64_t>(items.size()))
    raise("`pop` takes from a position outside of the list");
  const auto taken = items[static_cast<std::size_t>(from_start)];
  on.spend(items.size() - static_cast<std::size_t>(from_start));
  items.erase(items.begin() + from_start);
  return taken;
}

value remove(evaluator& on, arguments a) {
  const argument_reader args{"remove", a, 1};
  auto& items = list_of(a).items;
  require_mutable(list_of(a));
  const auto at = position_in(on, items, args.need(0));
  on.spend(items.size());
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
  return none();
}

value dict_clear(evaluator&, arguments a) {
  const argument_reader args{"clear", a, 0};
  require_mutable(dict_of(a));
  dict_of(a).entries.clear();
  dict_of(a).by_hash.clear();
  return none();
}

value get(evaluator& on, arguments a) {
  const argument_reader args{"get", a, 2};
  if (const auto* found = find_key(on, dict_of(a), args.need(0))) return *found;
  const auto* otherwise = args.find(1);
  return otherwise ? *otherwise : none();
}

template <class Make>
value entries_as_list(evaluator& on, std::string_view name, arguments a, Make make) {
  const argument_reader args{name, a, 0};
  const auto list = new_list(on, {});
  on.spend(dict_of(a).entries.size());
  for (const auto& entry : dict_of(a).entries)
    list.list->items.push_back(make(entry));
  return list;
}
value pair_of(evaluator& on, const dict_object::entry& entry) {
  return new_tuple(on, std::array{entry.key, entry.item});
}
value items(evaluator& on, arguments a) {
  return entries_as_list(on, "items", a, [&](const auto& entry) { return pair_of(on, entry); });
}
value keys(evaluator& on, arguments a) {
  return entries_as_list(on, "keys", a, [](const auto& entry) { return entry.key; });
}
value values(evaluator& on, arguments a) {
  return entries_as_list(on, "values", a, [](const auto& entry) { return entry.item; });
}

value dict_pop(evaluator& on, arguments a) {
  const argument_reader args{"pop", a, 2};
  require_mutable(dict_of(a));
  if (const auto* found = find_key(on, dict_of(a), args.need(0))) {
    const auto taken = *found;
    erase_key(on, dict_of(a), args.need(0));
    return taken;
  }
  if (const auto* otherwise = args.find(1)) return *otherwise;
  raise("the key " + repr_of(on, args.need(0)) + " is not in the dict");
}

value popitem(evaluator& on, arguments a) {
  const argument_reader args{"popitem", a, 0};
  require_mutable(dict_of(a));
  if (dict_of(a).entries.empty()) raise("`popitem` takes from an empty dict");
  const auto taken = pair_of(on, dict_of(a).entries.front());
  erase_key(on, dict_of(a), taken.tuple->items.front());
  return taken;
}

value setdefault(evaluator& on, arguments a) {
  const argument_reader args{"setdefault", a, 2};
  if (const auto* found = find_key(on, dict_of(a), args.need(0))) return *found;
  const auto* otherwise = args.find(1);
  const auto v = otherwise ? *otherwise : none();
  set_key(on, dict_of(a), args.need(0), v);
  return v;
}

} // namespace

void update_dict(evaluator& on, dict_object& into, const value* pairs, const call_arguments& a) {
  if (pairs && pairs->is(value_kind::dict)) {
    if (pairs->dict != &into)
      for (const auto& entry : pairs->dict->entries)
        set_key(on, into, entry.key, entry.item);
  } else if (pairs) {
    each_item(on, *pairs, [&](const value& item) {
      const auto pair = tuple_from(on, item).tuple->items;
      if (pair.size() != 2) raise("a dict is made from pairs of a key and a value");
      set_key(on, into, pair[0], pair[1]);
      return true;
    });
  }
  for (const auto& n : a.named)
    set_key(on, into, make_string(on.heap(), n.name), n.item);
}

namespace {

value update(evaluator& on, arguments a) {
  if (a.positional.size() > 1) raise("`update` takes at most 1 positional argument");
  require_mutable(dict_of(a));
  update_dict(on, dict_of(a), a.positional.empty() ? nullptr : a.positional.data(), a);
  return none();
}

constexpr std::array of_lists{
    method{"append", append},    method{"clear", list_clear}, method{"extend", extend},
    method{"index", list_index}, method{"insert", insert},    method{"pop", list_pop},
    method{"remove", remove},
};
constexpr std::array of_dicts{
    method{"clear", dict_clear},      method{"get", get},
    method{"items", items},           method{"keys", keys},
    method{"pop", dict_pop},          method{"popitem", popitem},
    method{"setdefault", setdefault}, method{"update", update},
    method{"values", values},
};

std::span<const method> methods_of(const value& object) {
  switch (object.kind) {
  case value_kind::string: return string_methods();
  case value_kind::list: return list_methods();
  case value_kind::dict: return dict_methods();
  default: return {};
  }
}

} // namespace

std::span<const method> list_methods() noexcept {
  return of_lists;
}
std::span<const method> dict_methods() noexcept {
  return of_dicts;
}

value find_attribute(evaluator& on, const value& object, std::string_view name) {
  for (const auto& m : methods_of(object)) {
    if (m.name != name) continue;
    auto* bound = on.heap().make<native_object>();
    bound->name = m.name;
    bound->function = m.function;
    bound->receiver = object;
    return of(bound);
  }
  return {};
}

std::vector<std::string_view> attribute_names(const value& object) {
  std::vector<std::string_view> names;
  for (const auto& m : methods_of(object))
    names.push_back(m.name);
  return names;
}

} // namespace gatehouse::policy::starlark
