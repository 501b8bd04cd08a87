#include "policy/starlark/operators.hpp"

#include "policy/starlark/each_item.hpp"
#include "policy/starlark/integers.hpp"

#include <algorithm>
#include <cmath>

namespace gatehouse::policy::starlark {
namespace {

using op = binary_operator;

[[noreturn]] void refuse(op o, const value& a, const value& b) {
  raise("`" + std::string{to_string(o)} + "` does not take values of type " +
        std::string{type_name(a)} + " and " + std::string{type_name(b)});
}

double real_of(const value& v) {
  return v.is_integer() ? to_real(v) : v.real;
}

value apply_real(op o, double x, double y, const value& a, const value& b) {
  switch (o) {
  case op::add: return of(x + y);
  case op::subtract: return of(x - y);
  case op::multiply: return of(x * y);
  case op::divide:
  case op::floor_divide:
    if (y == 0) raise("division by zero");
    return of(o == op::divide ? x / y : std::floor(x / y));
  case op::modulo: {
    if (y == 0) raise("division by zero");
    const double rest = std::fmod(x, y);
    return of(rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
  }
  default: refuse(o, a, b);
  }
}

value apply_integer(evaluator& on, op o, const value& a, const value& b) {
  auto& heap = on.heap();
  if (a.is(value_kind::big_integer) || b.is(value_kind::big_integer)) on.spend(200);
  switch (o) {
  case op::add: return add(heap, a, b);
  case op::subtract: return subtract(heap, a, b);
  case op::multiply: return multiply(heap, a, b);
  case op::divide: return apply_real(o, to_real(a), to_real(b), a, b);
  case op::floor_divide: return floor_divide(heap, a, b);
  case op::modulo: return modulo(heap, a, b);
  case op::bit_and: return bit_and(heap, a, b);
  case op::bit_or: return bit_or(heap, a, b);
  case op::bit_xor: return bit_xor(heap, a, b);
  case op::shift_left: return shift_left(heap, a, b);
  case op::shift_right: return shift_right(heap, a, b);
  default: refuse(o, a, b);
  }
}

/// The items of a list or tuple.
std::span<const value> items_of(const value& v) {
  if (v.is(value_kind::list)) return v.list->items;
  return v.tuple->items;
}

value made_sequence(evaluator& on, value_kind kind, std::span<const value> items) {
  return kind == value_kind::list ? new_list(on, items) : new_tuple(on, items);
}

value repeat(evaluator& on, const value& what, const value& times) {
  if (!times.is(value_kind::integer) || times.integer > 1'000'000'000)
    raise("a value is repeated too often");
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times.integer, 0));
  if (what.is(value_kind::string)) {
    const auto text = what.str();
    if (!text.empty()) on.spend(count + text.size() * count / 16);
    const auto out = on.heap().make_array<char>(text.size() * count);
    for (std::size_t i = 0; i < count && !text.empty(); ++i)
      std::ranges::copy(text, out.begin() + static_cast<std::ptrdiff_t>(i * text.size()));
    return make_string(on.heap(), {out.data(), out.size()});
  }
  const auto items = items_of(what);
  on.spend(items.size() * count);
  const auto out = on.heap().make_array<value>(items.size() * count);
  for (std::size_t i = 0; i < count && !items.empty(); ++i)
    std::ranges::copy(items, out.begin() + static_cast<std::ptrdiff_t>(i * items.size()));
  return made_sequence(on, what.kind, out);
}

bool is_repeatable(const value& v) {
  return v.is(value_kind::string) || v.is(value_kind::list) || v.is(value_kind::tuple);
}

value joined(evaluator& on, const value& a, const value& b) {
  if (a.is(value_kind::string) || a.is(value_kind::bytes)) {
    std::string text{a.str()};
    text += b.str();
    on.spend(text.size() / 16);
    return a.is(value_kind::string) ? make_string(on.heap(), text) : make_bytes(on.heap(), text);
  }
  const auto left = items_of(a);
  const auto right = items_of(b);
  on.spend(left.size() + right.size());
  const auto out = on.heap().make_array<value>(left.size() + right.size());
  std::ranges::copy(right, std::ranges::copy(left, out.begin()).out);
  return made_sequence(on, a.kind, out);
}

value union_of(evaluator& on, const value& a, const value& b) {
  const auto made = new_dict(on);
  for (const auto* dict : {a.dict, b.dict})
    for (const auto& entry : dict->entries)
      set_key(on, *made.dict, entry.key, entry.item);
  return made;
}

} // namespace

value apply(evaluator& on, op o, const value& a, const value& b) {
  switch (o) {
  case op::equal: return of(equal(on, a, b));
  case op::not_equal: return of(!equal(on, a, b));
  case op::less: return of(std::is_lt(order(on, a, b)));
  case op::greater: return of(std::is_gt(order(on, a, b)));
  case op::less_equal: return of(std::is_lteq(order(on, a, b)));
  case op::greater_equal: return of(std::is_gteq(order(on, a, b)));
  case op::in: return of(contains(on, b, a));
  case op::not_in: return of(!contains(on, b, a));
  default: break;
  }
  if (a.is_integer() && b.is_integer()) return apply_integer(on, o, a, b);
  if (a.is_number() && b.is_number()) return apply_real(o, real_of(a), real_of(b), a, b);
  if (o == op::modulo && a.is(value_kind::string))
    return make_string(on.heap(), format_percent(on, a.str(), b));
  if (o == op::add && a.kind == b.kind && (is_repeatable(a) || a.is(value_kind::bytes)))
    return joined(on, a, b);
  if (o == op::multiply && is_repeatable(a) && b.is_integer()) return repeat(on, a, b);
  if (o == op::multiply && is_repeatable(b) && a.is_integer()) return repeat(on, b, a);
  if (o == op::bit_or && a.is(value_kind::dict) && b.is(value_kind::dict))
    return union_of(on, a, b);
  refuse(o, a, b);
}

value apply_in_place(evaluator& on, op o, const value& a, const value& b) {
  if (o == op::add && a.is(value_kind::list)) {
    const auto added = tuple_from(on, b);
    require_mutable(*a.list);
    a.list->items.insert(a.list->items.end(), added.tuple->items.begin(), added.tuple->items.end());
    return a;
  }
  if (o == op::bit_or && a.is(value_kind::dict) && b.is(value_kind::dict)) {
    require_mutable(*a.dict);
    if (a.dict == b.dict) return a;
    for (const auto& entry : b.dict->entries)
      set_key(on, *a.dict, entry.key, entry.item);
    return a;
  }
  return apply(on, o, a, b);
}

namespace {

std::int64_t size_of(const value& v) {
  switch (v.kind) {
  case value_kind::string: return static_cast<std::int64_t>(character_count(v.str()));
  case value_kind::bytes: return static_cast<std::int64_t>(v.str().size());
  case value_kind::list: return static_cast<std::int64_t>(v.list->items.size());
  case value_kind::tuple: return static_cast<std::int64_t>(v.tuple->items.size());
  case value_kind::range: return v.range->size;
  default: raise("a value of type " + std::string{type_name(v)} + " has no positions");
  }
}

std::int64_t checked_index(const value& object, const value& at) {
  if (!at.is(value_kind::integer))
    raise("a position must be an int, not " + std::string{type_name(at)});
  const auto size = size_of(object);
  const auto i = at.integer < 0 ? at.integer + size : at.integer;
  if (i < 0 || i >= size)
    raise("position " + std::to_string(at.integer) + " is outside of a " +
          std::string{type_name(object)} + " of " + std::to_string(size));
  return i;
}

std::string_view character_at(std::string_view text, std::size_t i) {
  const auto begin = character_offset(text, i);
  return text.substr(begin, character_offset(text.substr(begin), 1));
}

} // namespace

value index(evaluator& on, const value& object, const value& at) {
  if (object.is(value_kind::dict)) {
    if (const auto* found = find_key(on, *object.dict, at)) return *found;
    raise("the key " + repr_of(on, at) + " is not in the dict");
  }
  const auto i = checked_index(object, at);
  switch (object.kind) {
  case value_kind::string:
    on.spend(object.str().size() / 16);
    return make_string(on.heap(), character_at(object.str(), static_cast<std::size_t>(i)));
  case value_kind::bytes: return of(std::int64_t{static_cast<unsigned char>(object.str()[i])});
  case value_kind::range: return of(object.range->at(i));
  default: return items_of(object)[static_cast<std::size_t>(i)];
  }
}

void assign_index(evaluator& on, const value& object, const value& at, const value& item) {
  if (object.is(value_kind::dict)) return set_key(on, *object.dict, at, item);
  if (!object.is(value_kind::list))
    raise("the items of a value of type " + std::string{type_name(object)} + " cannot be assigned");
  require_mutable(*object.list);
  object.list->items[static_cast<std::size_t>(checked_index(object, at))] = item;
}

value slice(evaluator& on, const value& object, const value& from, const value& to,
            const value& step) {
  const auto size = size_of(object);
  const auto number = [](const value& v, std::int64_t otherwise) {
    if (v.is(value_kind::none)) return otherwise;
    if (!v.is(value_kind::integer))
      raise("a part of a slice must be an int, not " + std::string{type_name(v)});
    return v.integer;
  };
  const auto stride = number(step, 1);
  if (stride == 0) raise("the step of a slice is 0");
  const bool forward = stride > 0;
  const auto bound = [&](const value& v, std::int64_t otherwise) {
    if (v.is(value_kind::none)) return otherwise;
    auto i = number(v, 0);
    if (i < 0)
      i = i < -size ? -1 : i + size;
    else if (i > size)
      i = size;
    return forward ? std::clamp<std::int64_t>(i, 0, size)
                   : std::clamp<std::int64_t>(i, -1, size - 1);
  };
  const auto begin = bound(from, forward ? 0 : size - 1);
  const auto end = bound(to, forward ? size : -1);
  std::vector<std::size_t> positions;
  for (auto i = begin; forward ? i < end : i > end;) {
    on.spend(1);
    positions.push_back(static_cast<std::size_t>(i));
    if (__builtin_add_overflow(i, stride, &i)) break;
  }
  if (object.is(value_kind::string) || object.is(value_kind::bytes)) {
    std::string text;
    if (object.is(value_kind::bytes)) {
      for (const auto i : positions)
        text += object.str()[i];
      return make_bytes(on.heap(), text);
    }
    std::vector<std::string_view> characters;
    for (auto rest = object.str(); !rest.empty();) {
      const auto width = character_offset(rest, 1);
      characters.push_back(rest.substr(0, width));
      rest.remove_prefix(width);
    }
    on.spend(characters.size());
    for (const auto i : positions)
      text += characters[i];
    return make_string(on.heap(), text);
  }
  const auto items = on.heap().make_array<value>(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i)
    items[i] = object.is(value_kind::range)
                   ? of(object.range->at(static_cast<std::int64_t>(positions[i])))
                   : items_of(object)[positions[i]];
  return made_sequence(on, object.is(value_kind::tuple) ? value_kind::tuple : value_kind::list,
                       items);
}

} // namespace gatehouse::policy::starlark
