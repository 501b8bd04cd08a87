#include "policy/starlark/integers.hpp"
#include "policy/starlark/operators.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gatehouse::policy::starlark {
namespace {

constexpr int deepest_compared = 200;

void go_deeper(evaluator& on, int depth) {
  on.spend(1);
  if (depth > deepest_compared) raise("values are nested too deeply to look through");
}

void spend_on_big(evaluator& on, const value& a, const value& b) {
  if (a.is(value_kind::big_integer) || b.is(value_kind::big_integer)) on.spend(50);
}

bool is_nan(const value& v) {
  return v.is(value_kind::real) && std::isnan(v.real);
}

/// Of an integer beyond all reals against one of them.
std::weak_ordering order_beyond(const value& integer, double real) {
  const bool less = std::isinf(real) ? real > 0 : sign_of(integer) < 0;
  return less ? std::weak_ordering::less : std::weak_ordering::greater;
}

/// @pre both numbers, neither NaN
std::weak_ordering order_numbers(const value& a, const value& b) {
  if (a.is_integer() && b.is_integer()) return compare_integers(a, b);
  if (is_beyond_reals(a)) return order_beyond(a, b.real);
  if (is_beyond_reals(b)) return 0 <=> order_beyond(b, a.real);
  const double x = a.is_integer() ? to_real(a) : a.real;
  const double y = b.is_integer() ? to_real(b) : b.real;
  return x < y   ? std::weak_ordering::less
         : x > y ? std::weak_ordering::greater
                 : std::weak_ordering::equivalent;
}

bool equal_items(evaluator& on, std::span<const value> a, std::span<const value> b, int depth) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!equal(on, a[i], b[i], depth + 1)) return false;
  return true;
}

std::weak_ordering order_items(evaluator& on, std::span<const value> a, std::span<const value> b,
                               int depth) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (equal(on, a[i], b[i], depth + 1)) continue;
    return order(on, a[i], b[i], depth + 1);
  }
  return a.size() <=> b.size();
}

} // namespace

bool equal(evaluator& on, const value& a, const value& b, int depth) {
  go_deeper(on, depth);
  spend_on_big(on, a, b);
  if (a.is_number() && b.is_number())
    return !is_nan(a) && !is_nan(b) && std::is_eq(order_numbers(a, b));
  if (a.kind != b.kind) return false;
  switch (a.kind) {
  case value_kind::boolean: return a.boolean == b.boolean;
  case value_kind::string:
  case value_kind::bytes: on.spend(a.str().size() / 64); return a.str() == b.str();
  case value_kind::list: return equal_items(on, a.list->items, b.list->items, depth);
  case value_kind::tuple: return equal_items(on, a.tuple->items, b.tuple->items, depth);
  case value_kind::dict: {
    if (a.dict->entries.size() != b.dict->entries.size()) return false;
    for (const auto& entry : a.dict->entries) {
      const auto* other = find_key(on, *b.dict, entry.key);
      if (!other || !equal(on, entry.item, *other, depth + 1)) return false;
    }
    return true;
  }
  case value_kind::range: {
    const auto& x = *a.range;
    const auto& y = *b.range;
    return x.size == y.size &&
           (x.size == 0 || (x.start == y.start && (x.size == 1 || x.step == y.step)));
  }
  case value_kind::function: return a.function == b.function;
  case value_kind::native:
    return a.native == b.native ||
           (a.native->function == b.native->function && a.native->host == b.native->host &&
            a.native->receiver.is(value_kind::unbound) &&
            b.native->receiver.is(value_kind::unbound));
  default: return true;
  }
}

std::weak_ordering order(evaluator& on, const value& a, const value& b, int depth) {
  go_deeper(on, depth);
  spend_on_big(on, a, b);
  if (a.is_number() && b.is_number()) {
    if (is_nan(a) || is_nan(b)) return is_nan(a) <=> is_nan(b);
    return order_numbers(a, b);
  }
  if (a.kind == b.kind) {
    switch (a.kind) {
    case value_kind::boolean: return a.boolean <=> b.boolean;
    case value_kind::string:
    case value_kind::bytes: on.spend(a.str().size() / 64); return a.str() <=> b.str();
    case value_kind::list: return order_items(on, a.list->items, b.list->items, depth);
    case value_kind::tuple: return order_items(on, a.tuple->items, b.tuple->items, depth);
    default: break;
    }
  }
  raise("values of type " + std::string{type_name(a)} + " and " + std::string{type_name(b)} +
        " have no order");
}

std::uint64_t hash(evaluator& on, const value& v, int depth) {
  go_deeper(on, depth);
  switch (v.kind) {
  case value_kind::none:
  case value_kind::ellipsis: return static_cast<std::uint64_t>(v.kind);
  case value_kind::boolean: return v.boolean ? 2 : 3;
  case value_kind::integer:
  case value_kind::big_integer: return hash_integer(v);
  case value_kind::real:
    // Equal numbers must have equal hashes, whatever their type.
    if (std::isfinite(v.real) && v.real == std::trunc(v.real))
      return hash_integer(integer_from(on.heap(), v.real));
    return std::bit_cast<std::uint64_t>(v.real);
  case value_kind::string:
  case value_kind::bytes:
    on.spend(v.str().size() / 64);
    return std::hash<std::string_view>{}(v.str());
  case value_kind::tuple: {
    std::uint64_t all = 7;
    for (const auto& item : v.tuple->items)
      all = all * 1'000'003 + hash(on, item, depth + 1);
    return all;
  }
  case value_kind::function: return std::hash<const void*>{}(v.function);
  case value_kind::native: return std::hash<const void*>{}(v.native->host) ^ v.native->name.size();
  default: raise("a value of type " + std::string{type_name(v)} + " cannot be a key");
  }
}

bool contains(evaluator& on, const value& container, const value& item) {
  const auto among = [&](std::span<const value> items) {
    return std::ranges::any_of(items, [&](const value& v) { return equal(on, v, item); });
  };
  switch (container.kind) {
  case value_kind::list: return among(container.list->items);
  case value_kind::tuple: return among(container.tuple->items);
  case value_kind::dict: return find_key(on, *container.dict, item) != nullptr;
  case value_kind::string:
    if (!item.is(value_kind::string)) break;
    on.spend(search_cost(container.str(), item.str()));
    return container.str().find(item.str()) != std::string_view::npos;
  case value_kind::range: {
    if (!item.is(value_kind::integer)) return false;
    const auto& r = *container.range;
    std::int64_t distance = 0;
    if (__builtin_sub_overflow(item.integer, r.start, &distance)) return false;
    return distance % r.step == 0 && distance / r.step >= 0 && distance / r.step < r.size;
  }
  default: break;
  }
  raise("`in` does not look for a value of type " + std::string{type_name(item)} +
        " in one of type " + std::string{type_name(container)});
}

} // namespace gatehouse::policy::starlark
